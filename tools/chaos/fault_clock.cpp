#include "chaos/fault_clock.hpp"

#include <fmt/format.h>

#include <fstream>
#include <ios>
#include <stdexcept>

#include "clock/preload_embedded.hpp"
#include "common/system/platform.hpp"

namespace redlock::chaos {

FaultClock::FaultClock(const std::filesystem::path& folder)
    : preload_(std::filesystem::absolute(folder) / "clock.so"),
      file_(std::filesystem::absolute(folder) / "clock"),
      clock_(file_) {
  std::ofstream stream(preload_, std::ios::binary | std::ios::trunc);
  for (const unsigned char byte : wall_clock::preload) stream.put(static_cast<char>(byte));
  stream.close();
  if (!stream) throw std::runtime_error(fmt::format("'{}' cannot be written", preload_.native()));
}

std::vector<std::string> FaultClock::environment() const { return clock_.environment(preload_); }

bool FaultClock::is_followed_by(pid_t server) const {
  return cli::platform::has_mapped(server, file_.native());
}

}  // namespace redlock::chaos
