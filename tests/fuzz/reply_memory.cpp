// Much of anything to the reader of answers: it never takes more memory than it says. First byte:
// how the bytes are cut into pieces; second: '1' to '9', how often they are repeated, fourfold with
// every step; then the bytes.

#include <string>

#include "fuzz/fuzz.hpp"
#include "redis/values/reply.hpp"
#include "redlock/limits.hpp"
#include "support/allocated.hpp"

namespace redlock::fuzz {
namespace {

/// An answer that is just not too large, what hiredis reserves for it, the value made of it, and
/// what the pool keeps of former ones.
constexpr std::size_t most_memory = 8 * limits::reply_bytes;

std::string repeated(std::string_view unit, std::size_t times) {
  constexpr std::size_t most_bytes = limits::reply_bytes + limits::reply_bytes / 2;
  std::string bytes(unit);
  for (; times > 1 && bytes.size() < most_bytes; times /= 2) bytes += std::string(bytes);
  return bytes;
}

/// For as long as the reader accepts it. Small values could go on for long and would show nothing
/// new.
void pour(const std::string& bytes, std::uint8_t seed) {
  constexpr std::size_t most_values = 600;
  const std::size_t before = test::allocated_bytes();
  redis::ReplyReader reader;
  Pieces pieces(bytes, seed);
  std::size_t values = 0;
  while (!pieces.empty() && reader.malformed().empty() && values < most_values) {
    reader.feed(pieces.next());
    while (reader.next() != nullptr && ++values < most_values) reader.recycle();
    REDLOCK_ASSERT(test::allocated_bytes() < before + most_memory);
  }
}

}  // namespace
}  // namespace redlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace redlock::fuzz;
  Input input(data, size);
  const std::uint8_t seed = input.byte();
  const std::uint8_t digit = input.byte();
  const std::size_t fourfold = digit > '0' && digit <= '9' ? digit - '0' : 0U;
  pour(repeated(input.rest(), std::size_t{1} << (2 * fourfold)), seed);
  return 0;
}
