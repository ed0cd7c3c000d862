#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace redlock::redis {

/// The first reply in a server's bytes.
struct Resp3 {
  enum class Kind : std::uint8_t {
    incomplete,
    reply,
    push,       ///< unsolicited
    malformed,  ///< see why
  };
  Kind kind = Kind::incomplete;
  std::size_t size = 0;  ///< for a reply or push: its bytes
  const char* why = nullptr;
};

/// Translates the first value in `bytes`, RESP2 or RESP3, into RESP2 and appends it to `out`:
/// hiredis before 1.0 knows only RESP2. Appends nothing if the value is not complete.
///
/// A null becomes the null bulk, and a boolean 1 or 0. Doubles, big numbers and verbatim texts
/// become bulks, letter by letter. Sets, pushes and maps become arrays. A map's array has twice as
/// many elements, and arrays inside a map are left empty: the modules that HELLO lists are
/// unbounded, and not used here. Attributes are left out.
[[nodiscard]] Resp3 translate_resp3(std::string_view bytes, std::string& out);

}  // namespace redlock::redis
