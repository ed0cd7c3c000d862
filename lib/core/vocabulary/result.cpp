#include "redlock/result.hpp"

#include "support/assert.hpp"

namespace redlock {

void result_detail::abort_without_value(const Error& error) noexcept {
  support::end_program("a result without a value was read", error.message.c_str());
}

void result_detail::abort_without_error() noexcept {
  support::end_program("the error of a result was read", "it has a value");
}

}  // namespace redlock
