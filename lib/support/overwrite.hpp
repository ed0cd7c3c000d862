#pragma once

#include <cstring>
#include <string>
#include <string_view>

namespace redlock::support {

/// As `text.assign(with)`, and quicker where `with` is as long as what is there: the names in a
/// slot that is used again mostly are. They must not overlap.
inline void overwrite(std::string& text, std::string_view with) {
  if (text.size() != with.size()) {
    text.assign(with);
  } else if (!with.empty()) {
    std::memcpy(text.data(), with.data(), with.size());
  }
}

}  // namespace redlock::support
