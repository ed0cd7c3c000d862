#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/text/arguments.hpp"

namespace redlock::cli {

/// A range of ports; includes both ends.
struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;

  [[nodiscard]] std::size_t size() const noexcept {
    return static_cast<std::size_t>(last - first) + 1;
  }
};

/// --ports FIRST-LAST. Throws UsageError.
[[nodiscard]] std::optional<PortRange> port_range_of(const Arguments& given);

/// Throws UsageError if private servers need more ports than --ports allows.
void check_ports(const std::optional<PortRange>& range, std::size_t needed);

/// Ports of 127.0.0.1 for private servers: of a range, each once, or any. A port that was free may
/// be taken a moment later; the next one is there for that.
class LoopbackPorts {
 public:
  explicit LoopbackPorts(std::optional<PortRange> range = {}) noexcept : range_(range) {}

  /// One that is free now. Throws std::runtime_error.
  [[nodiscard]] std::uint16_t take();
  /// A port for a listener whose port need not be known in advance: 0, the kernel's choice, if no
  /// range is given.
  [[nodiscard]] std::uint16_t take_for_listener() { return range_ ? take() : std::uint16_t{0}; }

 private:
  std::optional<PortRange> range_;
  std::size_t taken_ = 0;  ///< of the range, those that were free and those that were not
};

}  // namespace redlock::cli
