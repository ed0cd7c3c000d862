// redlock_bench: measurements of the library that its authors need, and users do not. It shares the
// harness and the output of `quorum-lock bench`. tests/bench/README.md has its commands.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cycle/cycle_mode.hpp"
#include "bench/measure/bench_nodes.hpp"
#include "common/session/exit_code.hpp"
#include "common/session/output.hpp"
#include "common/system/signals.hpp"
#include "common/text/arguments.hpp"
#include "common/text/usage_error.hpp"
#include "market_mode.hpp"
#include "sides.hpp"

namespace redlock::cli {
namespace {

constexpr std::string_view value_options[] = {
    "local",       "nodes", "nodes-count", "in-flight",     "duration",
    "repetitions", "sides", "max-ttl",     "restart-guard", "ports"};
constexpr std::string_view flag_options[] = {"json", "quiet", "async", "blocking"};

template <typename Names>
bool has(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// Throws UsageError.
Arguments read_arguments(const std::vector<std::string>& words) {
  Arguments given;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::string name = word.starts_with("--") ? word.substr(2) : std::string();
    if (has(flag_options, name)) {
      given.set_flag(name, true, word);
    } else if (!has(value_options, name)) {
      throw UsageError(fmt::format("'{}' is not an option", word));
    } else if (++i == words.size()) {
      throw UsageError(fmt::format("{}: has no value", word));
    } else if (name == "nodes") {
      given.nodes.push_back(words[i]);
    } else {
      given.set(name, {words[i], word});
    }
  }
  return given;
}

int run_bench(const std::vector<std::string>& words) {
  if (words.empty() || (words[0] != "cycle" && words[0] != "market")) {
    throw UsageError("usage: redlock_bench cycle|market [OPTIONS]; see tests/bench/README.md");
  }
  const Arguments given = read_arguments({words.begin() + 1, words.end()});
  const Signals signals;
  if (words[0] == "market") return run_market_mode(given, signals);
  const auto names = split_list(given.text("sides").value_or("floor"));
  check_sides(names);
  const CycleRequest request = read_cycle_request(given);
  require_plain_nodes(request.settings, "--sides");
  return measure_cycles(request, signals, [&](const std::atomic<int>& stop) {
    return sides_of(names, request, signals, stop);
  });
}

}  // namespace
}  // namespace redlock::cli

int main(int argc, char** argv) {
  using namespace redlock::cli;
  try {
    return run_bench({argv + 1, argv + argc});
  } catch (const UsageError& error) {
    print_error(error.what());
    return code(ExitCode::usage);
  } catch (const std::exception& error) {
    print_error(error.what());
    return code(ExitCode::unavailable);
  }
}
