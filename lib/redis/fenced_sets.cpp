#include "redis/fenced_sets.hpp"

#include <array>
#include <charconv>

#include "redis/keys.hpp"
#include "redis/words.hpp"
#include "support/assert.hpp"

namespace redlock::redis {
namespace {

constexpr std::size_t words_of_zadd = 4;  // and two for each number
constexpr std::size_t words_of_mget = 1;  // and one for each key

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

}  // namespace redlock::redis
