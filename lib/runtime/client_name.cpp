#include "runtime/client_name.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "redlock/limits.hpp"
#include "support/platform.hpp"

namespace redlock::runtime {
namespace {

bool is_control(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return byte < 0x20 || byte == 0x7f;
}

std::string user_name() {
  std::array<char, 4096> text{};
  passwd entry{};
  passwd* found = nullptr;
  const uid_t user = ::geteuid();
  const bool known = ::getpwuid_r(user, &entry, text.data(), text.size(), &found) == 0 &&
                     found != nullptr && entry.pw_name != nullptr;
  return known ? entry.pw_name : std::to_string(user);
}

std::string host_name() {
  std::array<char, 256> text{};
  return ::gethostname(text.data(), text.size() - 1) == 0 ? text.data() : "";
}

}  // namespace

std::string default_client_name() {
  std::string name = user_name() + '@' + host_name() + ':' + std::to_string(::getpid()) + ' ';
  name += support::program_name();
  name.resize(std::min(name.size(), limits::name_bytes));
  std::replace_if(name.begin(), name.end(), is_control, '?');
  return name;
}

std::optional<std::string> refuse_client_name(std::string_view name) {
  if (name.size() > limits::name_bytes) {
    return "name: " + std::to_string(name.size()) + " bytes; at most " +
           std::to_string(limits::name_bytes) + " are allowed";
  }
  if (std::any_of(name.begin(), name.end(), is_control)) {
    return "name: it has a control character; none is allowed";
  }
  return std::nullopt;
}

}  // namespace redlock::runtime
