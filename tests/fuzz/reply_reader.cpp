// Arbitrary bytes to the reader of answers. First byte: how they are cut into pieces; then the
// bytes.

#include <string>

#include "fuzz/fuzz.hpp"
#include "redis/values/reply.hpp"
#include "redis/values/visible.hpp"
#include "redlock/limits.hpp"

namespace redlock::fuzz {
namespace {

using redis::Protocol;
using redis::ReplyReader;
using redis::Value;

/// So long a line may be; from there on it depends on how it was cut whether it is refused.
constexpr std::size_t longest_line = 16 * 1024;

struct Read {
  std::string values;
  std::string malformed;
  bool in_the_middle = false;
  bool operator==(const Read&) const = default;
};

void check_value(const Value& value, std::size_t depth, std::string& shown) {
  REDLOCK_ASSERT(depth <= 4);
  REDLOCK_ASSERT(value.text.size() <= limits::reply_bytes);
  const bool has_elements = value.type == Value::Type::array || value.type == Value::Type::push;
  REDLOCK_ASSERT(has_elements || value.elements.empty());
  REDLOCK_ASSERT(value.type != Value::Type::push || depth == 0);
  REDLOCK_ASSERT(value.elements.size() <= 64);
  if (value.type == Value::Type::error) {
    REDLOCK_ASSERT(harmless(value.text) && value.text.size() <= redis::message_bytes);
  }
  shown += std::to_string(static_cast<int>(value.type)) + ":" + std::to_string(value.integer) +
           ":" + std::to_string(value.text.size()) + ":" + value.text;
  for (const Value* element : value.elements) {
    REDLOCK_ASSERT(element != nullptr);
    check_value(*element, depth + 1, shown);
  }
}

void drain(ReplyReader& reader, Read& read) {
  while (const Value* value = reader.next()) {
    check_value(*value, 0, read.values);
    reader.recycle();
  }
}

Read read_in(Pieces pieces, Protocol protocol) {
  ReplyReader reader(protocol);
  Read read;
  while (!pieces.empty() && reader.malformed().empty()) {
    reader.feed(pieces.next());
    drain(reader, read);
  }
  read.malformed = reader.malformed();
  if (!read.malformed.empty()) {
    REDLOCK_ASSERT(harmless(read.malformed));
    reader.feed("+OK\r\n");
    REDLOCK_ASSERT(reader.next() == nullptr);
    REDLOCK_ASSERT(reader.malformed() == read.malformed);
  } else {
    read.in_the_middle = reader.in_the_middle();
  }
  return read;
}

Read read_at_once(std::string_view bytes, Protocol protocol) {
  ReplyReader reader(protocol);
  Read read;
  reader.feed(bytes);
  drain(reader, read);
  read.malformed = reader.malformed();
  if (read.malformed.empty()) read.in_the_middle = reader.in_the_middle();
  return read;
}

}  // namespace
}  // namespace redlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace redlock::fuzz;
  Input input(data, size);
  const std::uint8_t seed = input.byte();
  const std::string_view bytes = input.rest();
  if (bytes.size() >= longest_line) return 0;
  for (const redlock::redis::Protocol protocol :
       {redlock::redis::Protocol::resp2, redlock::redis::Protocol::resp3}) {
    const Read in_pieces = read_in(Pieces(bytes, seed), protocol);
    REDLOCK_ASSERT(in_pieces == read_at_once(bytes, protocol));
  }
  return 0;
}
