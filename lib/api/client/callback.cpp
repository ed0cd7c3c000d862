#include "redlock/callback.hpp"

#include <exception>

#include "support/assert.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {
namespace callback_detail {

void end_for_exception() noexcept {
  constexpr const char* mistake = "a callback has thrown an exception";
  try {
    throw;
  } catch (const std::exception& exception) {
    support::end_program(mistake, exception.what());
  } catch (...) {
    support::end_program(mistake, "which is no std::exception");
  }
}

}  // namespace callback_detail
}  // namespace REDLOCK_ABI
}  // namespace redlock
