#include "bench/measure/bench_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "bench/measure/endpoint.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"

namespace redlock::cli {

std::vector<std::uint64_t> choose_nodes(const Arguments& given, Settings& settings,
                                        std::vector<std::uint64_t> by_default) {
  if (settings.client.quorum) throw UsageError("--quorum: not with bench: it measures majorities");
  if (given.asked_for("local-sentinel")) {
    throw UsageError("--local-sentinel: not with bench: --local N");
  }
  settings.service.reset();
  const std::size_t present = settings.local.value_or(settings.nodes.size());
  std::vector<std::uint64_t> counts = given.numbers("nodes-count").value_or(std::move(by_default));
  const std::uint64_t most = *std::max_element(counts.begin(), counts.end());
  if (settings.nodes.empty()) {
    settings.local = std::max<std::size_t>(present, most);
  } else if (most > present) {
    throw UsageError(
        fmt::format("--nodes-count: {} is more than the {} given", most, counted(present, "node")));
  }
  return counts;
}

void require_plain_nodes(const Settings& settings, std::string_view option) {
  for (const std::string& node : settings.nodes) {
    if (plain_endpoint(node) && settings.client.password.empty()) continue;
    throw UsageError(
        fmt::format("{}: cannot measure '{}': only nodes without TLS, user name and database "
                    "number, with the password in the URL",
                    option, without_password(node)));
  }
}

}  // namespace redlock::cli
