#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/vocabulary/messages.hpp"
#include "redlock/limits.hpp"
#include "support/assert.hpp"

/// The types that the generated header scripts_embedded.hpp uses. Each script has a struct in that
/// header, whose fields are the keys and arguments that the script's head names.
namespace redlock::redis::scripts {

struct Script {
  std::string_view name;
  std::string_view text;
  std::string_view sha1;
};

/// A key or an argument. A call that leaves it out does not compile.
class Word {
 public:
  template <std::convertible_to<std::string_view> Text>
  constexpr Word(const Text& text) noexcept : text_(text) {}
  [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
};

/// One or more keys or arguments: as many as the call has.
class Several {
 public:
  constexpr Several(std::string_view first, std::span<const std::string> more = {}) noexcept
      : first_(first), more_(more) {}
  [[nodiscard]] constexpr std::size_t size() const noexcept { return 1 + more_.size(); }
  [[nodiscard]] constexpr std::string_view first() const noexcept { return first_; }
  [[nodiscard]] constexpr std::span<const std::string> more() const noexcept { return more_; }

 private:
  std::string_view first_;
  std::span<const std::string> more_;
};

/// An argument that a call can leave out, together with all arguments that follow it.
using Optional = std::optional<std::string_view>;

/// The words of a call, without an allocation. It borrows the texts.
class Call {
 public:
  Call(const Script& script, std::size_t keys) noexcept : script_(&script), keys_(keys) {}

  void add(const Word& word) { add_text(word.text()); }
  void add(const Several& several) {
    add_text(several.first());
    for (const std::string& word : several.more()) add_text(word);
  }
  void add(const Optional& argument) {
    if (!argument) {
      ended_ = true;
      return;
    }
    REDLOCK_ASSERT(!ended_);  // it would take the place of the argument that was left out
    add_text(*argument);
  }
  /// One argument with two meanings: a call gives at most one of them.
  void add(const Optional& one, const Optional& other) {
    REDLOCK_ASSERT(!one || !other);
    add(one ? one : other);
  }

  /// The command. Valid as long as this object.
  [[nodiscard]] std::span<const std::string_view> words(core::ScriptForm form) noexcept {
    const bool by_digest = form == core::ScriptForm::digest;
    const auto end =
        std::to_chars(key_count_.data(), key_count_.data() + key_count_.size(), keys_).ptr;
    words_[0] = by_digest ? "EVALSHA" : "EVAL";
    words_[1] = by_digest ? script_->sha1 : script_->text;
    words_[2] = {key_count_.data(), static_cast<std::size_t>(end - key_count_.data())};
    return {words_.data(), size_};
  }

 private:
  void add_text(std::string_view text) { words_.at(size_++) = text; }

  const Script* script_;
  std::size_t keys_;
  std::array<char, 4> key_count_{};
  std::size_t size_ = 3;  // EVAL, the script, the number of keys
  bool ended_ = false;
  std::array<std::string_view, limits::resources + 16> words_{};
};

}  // namespace redlock::redis::scripts
