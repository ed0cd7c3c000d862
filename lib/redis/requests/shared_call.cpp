#include "redis/requests/shared_call.hpp"

#include <chrono>
#include <cstdint>

#include "redis/requests/parts.hpp"
#include "redis/values/words.hpp"
#include "support/assert.hpp"

namespace redlock::redis {

bool SharedCall::fits(const SharedForm& form, const core::Terms& terms) const noexcept {
  if (empty()) return true;
  return count_ < most && form_ == &form && terms.*form.common == common_;
}

void SharedCall::add(const SharedForm& form, const core::Terms& terms) {
  REDLOCK_ASSERT(fits(form, terms));
  form_ = &form;
  common_ = terms.*form.common;
  append_word(resources_, terms.resource);
  append_word(tokens_, terms.token);
  ++count_;
}

std::string_view SharedCall::encode(core::ScriptForm form) {
  const bool by_digest = form == core::ScriptForm::digest;
  const bool says_common = common_ != form_->unsaid;
  // EVALSHA, the script, the number of keys
  const std::size_t further_words = says_common ? 4 : 3;
  call_.clear();
  append_size(call_, '*', 2 * count_ + further_words);
  append_word(call_, by_digest ? "EVALSHA" : "EVAL");
  append_word(call_, by_digest ? form_->script->sha1 : form_->script->text);
  append_word(call_, Decimal(static_cast<std::int64_t>(count_)).view());
  call_.append(resources_).append(tokens_);
  if (says_common) append_word(call_, milliseconds_of(common_).view());
  return call_;
}

void SharedCall::clear() noexcept {
  count_ = 0;
  resources_.clear();
  tokens_.clear();
}

std::optional<std::vector<core::Answer>> classify_shared(const SharedForm& form, const Value& value,
                                                         std::size_t count) {
  if (value.type == Value::Type::error) {
    return std::vector<core::Answer>(count, error_of_script(value));
  }
  const auto all = static_cast<std::int64_t>(count);
  if (value.type == Value::Type::integer && value.integer == all) {
    return std::vector<core::Answer>(count, core::Answer{.reply = form.all});
  }
  if (value.type == Value::Type::integer && value.integer >= 0 && value.integer < all &&
      form.fewer) {
    return std::vector<core::Answer>(count, core::Answer{.reply = *form.fewer});
  }
  if (value.type != Value::Type::array || value.elements.size() != count) return std::nullopt;
  std::vector<core::Answer> answers;
  for (const Value* element : value.elements) {
    const std::optional<core::Answer> answer = form.each(*element);
    if (!answer || answer->holds) return std::nullopt;
    answers.push_back(*answer);
  }
  return answers;
}

}  // namespace redlock::redis
