#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/vocabulary/request.hpp"
#include "redis/scripts_embedded.hpp"
#include "redis/values/dialect.hpp"

namespace redlock::redis {

/// Appends one command in Redis' wire format.
void append_command(std::string& out, std::span<const std::string_view> words);
inline void append_command(std::string& out, std::initializer_list<std::string_view> words) {
  append_command(out, std::span(words.begin(), words.size()));
}

/// A number in decimal, without an allocation.
class Decimal {
 public:
  Decimal() = default;
  explicit Decimal(std::int64_t number) noexcept
      : size_(static_cast<std::size_t>(
            std::to_chars(digits_.data(), digits_.data() + digits_.size(), number).ptr -
            digits_.data())) {}
  [[nodiscard]] std::string_view view() const noexcept { return {digits_.data(), size_}; }

 private:
  std::array<char, 20> digits_{};
  std::size_t size_ = 0;
};

[[nodiscard]] Decimal milliseconds_of(core::Duration duration) noexcept;
/// A time for which nobody may have a resource, rounded up: not a fraction less.
[[nodiscard]] Decimal milliseconds_rounded_up(core::Duration duration) noexcept;

/// The bytes of a request, and the positions of resource, token and fencing number in them: the
/// next request can overwrite these.
struct Frame {
  std::string bytes{};
  bool reusable = false;  ///< whether only these words differ in the next request
  core::ScriptForm script_form{};
  Dialect dialect{};
  core::Duration ttl{};
  /// How long a resource is to be reserved; none: the request does not say.
  std::optional<core::Duration> reserved_for{};
  std::size_t resource_size = 0;
  std::size_t token_size = 0;
  std::size_t number_size = 0;
  /// Positions of a word that some requests name more than once.
  class Positions {
   public:
    void clear() noexcept { count_ = 0; }
    void add(std::size_t at) { at_.at(count_++) = at; }
    void write(std::string& into, std::string_view word) const noexcept {
      for (std::size_t i = 0; i < count_; ++i) word.copy(into.data() + at_[i], word.size());
    }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

   private:
    std::array<std::size_t, 8> at_{};
    std::size_t count_ = 0;
  };
  Positions resource{};
  Positions token{};
  Positions number{};
};

/// Writes the commands of one request into its frame. A word that is `resource()`, `token()`,
/// `number()` or `queue()` is recognized, wherever it stands, and may be overwritten later; a copy
/// of it is not recognized.
class Writer {
 public:
  Writer(Frame& frame, const core::Terms& terms);

  [[nodiscard]] Dialect dialect() const noexcept { return frame_.dialect; }
  [[nodiscard]] std::string_view resource() const noexcept { return terms_.resource; }
  /// The resource, and those that are taken together with it.
  [[nodiscard]] scripts::Several resources() const noexcept {
    return {terms_.resource, terms_.more_resources};
  }
  [[nodiscard]] std::string_view token() const noexcept { return terms_.token; }
  /// The fencing number.
  [[nodiscard]] std::string_view number() const noexcept { return number_.view(); }
  /// The key of the queue of those who wait for the resource.
  [[nodiscard]] std::string_view queue();
  [[nodiscard]] std::string_view ttl() const noexcept { return ttl_.view(); }
  [[nodiscard]] std::string_view reserved_for();
  [[nodiscard]] std::string_view ticket() const noexcept { return ticket_.view(); }
  [[nodiscard]] std::string_view writer_reservation() const noexcept { return reservation_.view(); }

  void command(std::initializer_list<std::string_view> words) {
    command(std::span(words.begin(), words.size()));
  }
  void command(std::span<const std::string_view> words);
  /// A call of a script: one of the structs in scripts_embedded.hpp.
  void script(scripts::Call call);

  /// The request names something else that follows from the resource, so the next request is
  /// written anew.
  void not_again() noexcept { frame_.reusable = false; }

 private:
  void note(std::string_view word, std::size_t at);

  Frame& frame_;
  const core::Terms& terms_;
  Decimal number_;
  Decimal ttl_;
  Decimal reserved_;
  Decimal ticket_;
  Decimal reservation_;
  std::string queue_;
};

}  // namespace redlock::redis
