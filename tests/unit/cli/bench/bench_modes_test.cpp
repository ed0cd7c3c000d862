#include "bench/bench_modes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "quorum-lock/line/verb_table.hpp"

namespace redlock::cli {
namespace {

TEST(CliBenchModes, TakeOptionsThatBenchHas) {
  const auto& options = find_verb_text("bench")->options;
  for (const BenchMode& mode : bench_modes()) {
    for (const std::string_view taken : mode.options) {
      EXPECT_TRUE(std::any_of(options.begin(), options.end(),
                              [&](const OptionText& option) { return option.name == taken; }))
          << mode.name << " --" << taken;
    }
  }
  // Every option belongs to a mode: otherwise nobody could give it.
  for (const OptionText& option : options) {
    if (option.name == "mode" || option.name == "ports") continue;
    EXPECT_TRUE(std::any_of(bench_modes().begin(), bench_modes().end(), [&](const BenchMode& mode) {
      return std::find(mode.options.begin(), mode.options.end(), option.name) != mode.options.end();
    })) << option.name;
  }
}

}  // namespace
}  // namespace redlock::cli
