#include "redis/assent.hpp"

#include <cstddef>

namespace redlock::redis {

AssentForms assent_forms(Dialect dialect, Protocol protocol) noexcept {
  constexpr std::string_view one = ":1\r\n";
  std::string_view granted = "+OK\r\n";
  // With GET: there was no key.
  if (dialect != Dialect::classic) granted = protocol == Protocol::resp3 ? "_\r\n" : "$-1\r\n";
  AssentForms forms{};
  const auto form_of = [&forms](core::Verb verb) -> AssentForm& {
    return forms[static_cast<std::size_t>(verb)];
  };
  form_of(core::Verb::set) = {granted, core::Reply::granted};
  form_of(core::Verb::extend) = {one, core::Reply::extended};
  form_of(core::Verb::release) = {one, core::Reply::released};
  return forms;
}

}  // namespace redlock::redis
