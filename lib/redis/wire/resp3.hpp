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
    push,       ///< said unasked
    malformed,  ///< see why
  };
  Kind kind = Kind::incomplete;
  std::size_t size = 0;  ///< reply, push: of how many bytes
  const char* why = nullptr;
};

/// Puts the one value that `bytes` begin with, of RESP2 or RESP3, into RESP2 behind `out`: hiredis
/// before 1.0 knows nothing else. Nothing is appended where there is no complete value.
///
/// A null is the null bulk; a truth 1 or 0; a double, a big number and a verbatim text are bulks,
/// letter by letter; a set, a push and a map are arrays, the map's of twice as many elements, of
/// which arrays are left empty: the modules that HELLO lists are unbounded, and not used here.
/// Attributes are left out.
[[nodiscard]] Resp3 translate_resp3(std::string_view bytes, std::string& out);

}  // namespace redlock::redis
