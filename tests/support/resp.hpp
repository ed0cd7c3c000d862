#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::test {

using Command = std::vector<std::string>;

/// One RESP2 value. `string` holds the text of status, error and string.
struct Reply {
  enum class Kind { nil, status, error, integer, string, array };

  Kind kind = Kind::nil;
  std::string string{};
  std::int64_t integer = 0;
  std::vector<Reply> elements{};

  [[nodiscard]] bool is_nil() const noexcept { return kind == Kind::nil; }
  [[nodiscard]] bool is_error() const noexcept { return kind == Kind::error; }
  [[nodiscard]] bool is_ok() const noexcept { return kind == Kind::status && string == "OK"; }
  friend bool operator==(const Reply&, const Reply&) = default;
};

std::ostream& operator<<(std::ostream& out, const Reply& reply);

/// Raw bytes of RESP values, for commands and for answers of a FakeServer.
namespace resp {
[[nodiscard]] std::string status(std::string_view text);
[[nodiscard]] std::string error(std::string_view text);
[[nodiscard]] std::string integer(std::int64_t value);
[[nodiscard]] std::string bulk(std::string_view text);
[[nodiscard]] std::string nil();
/// `elements` are encoded values already.
[[nodiscard]] std::string array(const std::vector<std::string>& elements);
[[nodiscard]] std::string command(const Command& words);
}  // namespace resp

/// Independent of the codec under test on purpose: a shared mistake would hide itself.
class RespParser {
 public:
  void feed(std::string_view bytes) { buffer_.append(bytes); }
  /// The next complete value; throws std::runtime_error on bytes that are not RESP2.
  [[nodiscard]] std::optional<Reply> next();

 private:
  [[nodiscard]] std::optional<Reply> parse(std::size_t& position, int depth) const;
  [[nodiscard]] std::optional<std::string_view> line(std::size_t& position) const;

  std::string buffer_;
};

}  // namespace redlock::test
