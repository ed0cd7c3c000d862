#include "support/programs.hpp"

namespace redlock::test {

std::string quorum_lock_program() { return QUORUM_LOCK_BINARY; }
std::string skewed_client_program() { return SKEWED_CLIENT_BINARY; }
std::string clock_preload() { return CLOCK_PRELOAD; }
std::string hosts_preload() { return HOSTS_PRELOAD; }
std::string c_interface_program() { return C_INTERFACE_BINARY; }
std::string c_example_program() { return C_EXAMPLE_BINARY; }
std::string other_user_program() { return OTHER_USER_BINARY; }
std::string readme() { return README; }
std::string pages_folder() { return PAGES; }
std::string foreign_contender_script() { return FOREIGN_CONTENDER; }

}  // namespace redlock::test
