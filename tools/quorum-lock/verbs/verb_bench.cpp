#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "bench/bench_modes.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"
#include "quorum-lock/line/verb_table.hpp"
#include "quorum-lock/verbs/verb.hpp"

namespace redlock::cli {
namespace {

const BenchMode& mode_of(const Arguments& given) {
  const std::string name = given.text("mode").value_or("cycle");
  if (const BenchMode* mode = find_bench_mode(name)) return *mode;
  throw UsageError(fmt::format("--mode: '{}' is not known: allowed are {}", as_printable(name),
                               bench_mode_names()));
}

void refuse_what_it_lacks(const BenchMode& mode, const Arguments& given) {
  for (const OptionText& option : find_verb_text("bench")->options) {
    if (option.name == "mode" || option.name == "ports") continue;
    const auto& taken = mode.options;
    if (std::find(taken.begin(), taken.end(), option.name) != taken.end()) continue;
    if (!given.asked_for(std::string(option.name))) continue;
    throw UsageError(fmt::format("--{}: not with --mode {}", option.name, mode.name));
  }
}

}  // namespace

int verb_bench(const Arguments& given, const Signals& signals) {
  const BenchMode& mode = mode_of(given);
  refuse_what_it_lacks(mode, given);
  if (!given.words.empty()) {
    throw UsageError(fmt::format("'{}': bench takes no resource", as_printable(given.words[0])));
  }
  return mode.run(given, signals);
}

}  // namespace redlock::cli
