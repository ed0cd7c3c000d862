// Values of any shape as answers to every verb. The input is a stream of values as a server sends
// them; every verb is answered by every run of as many of them as it takes.

#include "redis/values/classify.hpp"

#include <span>
#include <vector>

#include "fuzz/answering.hpp"
#include "fuzz/fuzz.hpp"
#include "redis/batches/fenced_sets.hpp"
#include "redis/values/reply.hpp"
#include "support/assert.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace redlock;
  using namespace redlock::fuzz;
  constexpr std::size_t most_values = 12;
  redis::ReplyReader reader;
  reader.feed(Input(data, size).rest());
  std::vector<const redis::Value*> values;
  while (const redis::Value* value = reader.next()) {
    values.push_back(value);
    if (values.size() == most_values) break;
  }
  each_verb([&](core::Verb verb) {
    const auto expected = static_cast<std::ptrdiff_t>(redis::values_expected(verb));
    for (auto first = values.begin(); values.end() - first >= expected; ++first) {
      const std::vector<const redis::Value*> run(first, first + expected);
      for (const redis::Dialect form : every_form) {
        const auto answer = classified(verb, form, run);
        if (answer) check_meaning(verb, *answer);
      }
    }
  });
  constexpr std::size_t for_all = redis::FencedSets::further_values;
  for (std::size_t sets = 1; sets + for_all <= values.size(); ++sets) {
    for (const redis::Dialect form : every_form) {
      const auto answers =
          redis::classify_fenced_sets(form, std::span(values).first(sets + for_all));
      if (!answers) continue;
      REDLOCK_ASSERT(answers->size() == sets);
      for (const core::Answer& answer : *answers) {
        check_meaning(core::Verb::set_fenced_short, answer);
      }
    }
  }
  return 0;
}
