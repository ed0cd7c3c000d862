#include "redis/releases.hpp"

#include <chrono>

#include "core/waited_keys.hpp"
#include "redis/scripts_embedded.hpp"
#include "redis/words.hpp"
#include "support/assert.hpp"

namespace redlock::redis {
namespace {

/// What the script takes for it where the call does not say.
constexpr core::Duration usual_reservation = std::chrono::milliseconds(20);
static_assert(usual_reservation == core::shortest_reservation, "what is asked for near the nodes");

/// The words of the call that are always the same.
std::string beginning_of(core::ScriptForm form) {
  const bool by_digest = form == core::ScriptForm::digest;
  std::string words;
  append_word(words, by_digest ? "EVALSHA" : "EVAL");
  append_word(words, by_digest ? scripts::releases.sha1 : scripts::releases.text);
  return words;
}

}  // namespace

void Releases::add(std::string_view resource, std::string_view token) {
  REDLOCK_ASSERT(!full());
  append_word(resources_, resource);
  append_word(tokens_, token);
  ++count_;
}

std::string_view Releases::encode(core::ScriptForm form, core::Duration reserved_for) {
  static const std::string by_digest = beginning_of(core::ScriptForm::digest);
  static const std::string in_full = beginning_of(core::ScriptForm::text);
  const bool is_usual = reserved_for == usual_reservation;
  const std::size_t further_words = is_usual ? 3 : 4;
  call_.clear();
  append_size(call_, '*', 2 * count_ + further_words);
  call_.append(form == core::ScriptForm::digest ? by_digest : in_full);
  append_word(call_, std::to_string(count_));
  call_.append(resources_).append(tokens_);
  if (!is_usual) {
    const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(reserved_for).count();
    append_word(call_, std::to_string(milliseconds));
  }
  return call_;
}

void Releases::clear() noexcept {
  count_ = 0;
  resources_.clear();
  tokens_.clear();
}

}  // namespace redlock::redis
