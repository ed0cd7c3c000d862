#include "redis/wire/releases.hpp"

#include <chrono>

#include "core/waiting/waited_keys.hpp"
#include "redis/requests/parts.hpp"
#include "redis/scripts_embedded.hpp"
#include "redis/wire/classify.hpp"
#include "redis/wire/words.hpp"
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

std::optional<std::vector<core::Answer>> classify_releases(const Value& value, std::size_t count) {
  if (value.type == Value::Type::error) {
    return std::vector<core::Answer>(count, error_of_script(value));
  }
  const auto all = static_cast<std::int64_t>(count);
  if (value.type == Value::Type::integer && value.integer >= 0 && value.integer <= all) {
    // Fewer: some had expired meanwhile, and nobody knows which. None of them is there any more.
    const core::Reply reply = value.integer == all ? core::Reply::released : core::Reply::gone;
    return std::vector<core::Answer>(count, core::Answer{.reply = reply});
  }
  if (value.type != Value::Type::array || value.elements.size() != count) return std::nullopt;
  std::vector<core::Answer> answers;
  for (const Value* element : value.elements) {
    const std::optional<core::Answer> answer = classify_release(*element);
    if (!answer || answer->holds) return std::nullopt;
    answers.push_back(*answer);
  }
  return answers;
}

}  // namespace redlock::redis
