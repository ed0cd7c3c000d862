#pragma once

#include <cstring>
#include <string>
#include <string_view>

namespace redlock::support {

/// Does what `text.assign(with)` does, but quicker if both are equally long, as the names in a
/// reused slot mostly are. They must not overlap.
inline void overwrite(std::string& text, std::string_view with) {
  if (text.size() != with.size()) {
    text.assign(with);
  } else if (!with.empty()) {
    std::memcpy(text.data(), with.data(), with.size());
  }
}

}  // namespace redlock::support
