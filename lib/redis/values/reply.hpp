#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct redisReader;

namespace redlock::redis {

/// The protocol that a server may use: RESP3 after HELLO 3 only.
enum class Protocol : std::uint8_t { resp2, resp3 };

/// One value of a server's answer, as in RESP2; see translate_resp3().
struct Value {
  enum class Type : std::uint8_t {
    status,
    error,
    integer,
    bulk,
    nil,
    array,
    push,  ///< an unsolicited array
  };
  Type type = Type::nil;
  std::int64_t integer = 0;
  std::string text{};  ///< status, bulk: as sent; error: made printable by append_visible()
  std::vector<const Value*> elements{};
};

/// Cuts a server's bytes into values: hiredis' parser with a pool of reused values, so that no
/// answer allocates, and with bounds on everything that a broken or hostile server could make grow.
/// Bytes that it does not accept are a protocol violation: the replies after them cannot be
/// separated, so the connection has to be closed.
///
/// The short answers of a lock cycle are read without hiredis if they are complete. Everything
/// else, malformed bytes included, is left to hiredis.
class ReplyReader {
 public:
  /// RESP2 replies are read in either protocol.
  explicit ReplyReader(Protocol protocol = Protocol::resp2);
  ~ReplyReader();
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  /// Call next() until it returns null before feeding more.
  void feed(std::string_view bytes);

  /// Returns whether the next value consists of exactly these letters, and if so skips it without
  /// making a value.
  [[nodiscard]] bool skip(std::string_view value) noexcept {
    // Compares in place, unlike starts_with(): every answer comes through here.
    const std::string_view next = unread();
    const bool is_next =
        next.size() >= value.size() && std::memcmp(next.data(), value.data(), value.size()) == 0;
    if (!is_next || partial_ || !malformed_.empty()) return false;
    drop(value.size());
    return true;
  }

  /// Returns whether the next value is an answer to TIME that read_time() accepts, and if so skips
  /// it.
  [[nodiscard]] bool skip_time(std::chrono::microseconds& time) noexcept;

  /// Whether the unread bytes are only the beginning of `value`, or all of it.
  [[nodiscard]] bool has_beginning_of(std::string_view value) noexcept {
    if (partial_ || !malformed_.empty() || input_.empty()) return false;
    const bool begins = value.starts_with(unread());
    // There may always be an incomplete answer, so the bytes that were read are dropped here.
    if (begins) input_.erase(0, std::exchange(read_, 0));
    return begins;
  }

  /// The next complete value, valid until recycle(). Null: no complete value has arrived, or see
  /// malformed().
  [[nodiscard]] const Value* next();

  /// Why nothing more can be read; empty: no error.
  [[nodiscard]] std::string_view malformed() const noexcept { return malformed_; }

  /// Whether an incomplete answer has begun to arrive; a push is not an answer.
  [[nodiscard]] bool in_the_middle() const noexcept;

  /// Takes all values back; every `Value` is invalid from here on.
  void recycle() noexcept;

 private:
  struct Builder;  // the functions that hiredis calls
  struct FreeReader {
    void operator()(redisReader* reader) const noexcept;
  };

  [[nodiscard]] const Value* next_short();
  [[nodiscard]] const Value* next_translated();
  [[nodiscard]] const Value* next_of_hiredis();
  void leave_to_hiredis(std::string_view bytes);
  /// The unread part of `input_`.
  [[nodiscard]] std::string_view unread() const noexcept {
    return std::string_view(input_).substr(read_);
  }
  void drop(std::size_t size) noexcept {
    read_ += size;
    if (read_ == input_.size()) forget_input();
  }
  void forget_input() noexcept;
  [[nodiscard]] Value& take(Value::Type type);
  void refuse_what_can_not_end();
  [[nodiscard]] std::string_view waiting() const noexcept;

  Protocol protocol_;
  std::unique_ptr<redisReader, FreeReader> reader_;
  std::vector<std::unique_ptr<Value>> pool_;  // the first used_ are in use; pointers stay valid
  std::size_t used_ = 0;
  std::string input_;     // bytes that hiredis has not been given
  std::size_t read_ = 0;  // number of bytes of input_ that were read
  std::string translated_;
  std::size_t values_in_reply_ = 0;
  std::size_t bytes_in_reply_ = 0;
  bool partial_ = false;  // hiredis has consumed a type byte that is no longer in its buffer
  const char* refusal_ = nullptr;  // why Builder refused the value at hand
  std::string malformed_;
};

}  // namespace redlock::redis
