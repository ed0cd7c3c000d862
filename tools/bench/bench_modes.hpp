#pragma once

#include <span>
#include <string>
#include <string_view>

#include "common/system/signals.hpp"
#include "common/text/arguments.hpp"

namespace redlock::cli {

/// A value of `bench --mode`.
struct BenchMode {
  std::string_view name;
  int (*run)(const Arguments& given, const Signals& signals);
  /// The options of bench that the mode takes; it refuses the others. All modes take --mode and
  /// --ports.
  std::span<const std::string_view> options;
};

[[nodiscard]] std::span<const BenchMode> bench_modes() noexcept;

/// Null: there is no such mode.
[[nodiscard]] const BenchMode* find_bench_mode(std::string_view name) noexcept;

/// "cycle, handoff and crowd".
[[nodiscard]] std::string bench_mode_names();

}  // namespace redlock::cli
