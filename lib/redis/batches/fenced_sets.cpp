#include "redis/batches/fenced_sets.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "redis/requests/parts.hpp"
#include "redis/values/classify.hpp"
#include "redis/values/keys.hpp"
#include "redis/values/words.hpp"
#include "support/assert.hpp"

namespace redlock::redis {
namespace {

constexpr std::size_t words_of_zadd = 4;  // plus two for each number
constexpr std::size_t words_of_mget = 1;  // plus one for each key

std::string beginning_of_zadd() {
  std::string words;
  append_word(words, "ZADD");
  append_word(words, keys::fencing_numbers);
  append_word(words, "GT");
  append_word(words, "CH");
  return words;
}

}  // namespace

void FencedSets::add(std::string_view set, std::string_view resource, std::string_view token,
                     std::int64_t number) {
  REDLOCK_ASSERT(!full());
  std::array<char, 20> digits;
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  const std::size_t resource_at = resources_.size();
  sets_.append(set);
  append_word(resources_, resource);
  append_word(numbers_, {digits.data(), static_cast<std::size_t>(end - digits.data())});
  numbers_.append(resources_, resource_at);
  append_word(tokens_, token);
  ++count_;
}

void FencedSets::encode(std::string& out) const {
  static const std::string zadd = beginning_of_zadd();
  out.append(sets_);
  append_size(out, '*', words_of_zadd + 2 * count_);
  out.append(zadd).append(numbers_);
  append_size(out, '*', words_of_mget + count_);
  append_word(out, "MGET");
  out.append(resources_);
}

void FencedSets::encode_yes(std::string& out, std::string_view granted) const {
  for (std::size_t i = 0; i < count_; ++i) out.append(granted);
  append_size(out, ':', count_);
  append_size(out, '*', count_);
  out.append(tokens_);
}

void FencedSets::clear() noexcept {
  count_ = 0;
  sets_.clear();
  numbers_.clear();
  resources_.clear();
  tokens_.clear();
}

std::optional<std::vector<core::Answer>> classify_fenced_sets(Dialect dialect, Values values) {
  const std::size_t count = values.size() - FencedSets::further_values;
  const Value& raised = *values[count];
  const Value& holders = *values[count + 1];
  const bool is_count = raised.type == Value::Type::integer && raised.integer >= 0 &&
                        raised.integer <= static_cast<std::int64_t>(count);
  const bool names_each = holders.type == Value::Type::array && holders.elements.size() == count;
  if (!is_count && raised.type != Value::Type::error) return std::nullopt;
  if (!names_each && holders.type != Value::Type::error) return std::nullopt;
  Value all_raised;
  all_raised.type = Value::Type::integer;
  all_raised.integer = is_count && raised.integer == static_cast<std::int64_t>(count) ? 1 : 0;
  std::vector<core::Answer> answers;
  answers.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Value& holder = names_each ? *holders.elements[i] : holders;
    const auto answer =
        classify_exceeding(dialect, std::array{values[i], &std::as_const(all_raised), &holder});
    if (!answer) return std::nullopt;
    answers.push_back(*answer);
  }
  return answers;
}

}  // namespace redlock::redis
