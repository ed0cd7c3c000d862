#include "market_mode.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/measure/endpoint.hpp"
#include "common/session/exit_code.hpp"
#include "common/session/output.hpp"
#include "common/session/progress.hpp"
#include "common/session/session.hpp"
#include "common/text/json_line.hpp"
#include "common/text/usage_error.hpp"
#include "market.hpp"
#include "redlock/client.hpp"

namespace redlock::cli {
namespace {

struct Load {
  std::size_t sellers;
  std::size_t buyers;
};
constexpr Load loads[] = {{1, 1}, {5, 1}, {5, 5}};
constexpr bench::MarketMethod methods[] = {bench::MarketMethod::watch,
                                           bench::MarketMethod::coarse_lock,
                                           bench::MarketMethod::lock_per_item};

struct MarketRow {
  bench::MarketMethod method;
  Load load;
  bench::MarketResult result;

  /// The figure of "Redis in Action": listings and purchases in a minute.
  [[nodiscard]] double per_minute() const {
    const double seconds = std::chrono::duration<double>(result.elapsed).count();
    return seconds <= 0 ? 0 : 60 * static_cast<double>(result.listed + result.bought) / seconds;
  }
  [[nodiscard]] double purchase_us(double percent) const {
    return std::chrono::duration<double, std::micro>(result.purchase.percentile(percent)).count();
  }
};

std::string rows_json(const std::vector<MarketRow>& rows) {
  nlohmann::ordered_json json{{"mode", "market"}, {"rows", nlohmann::ordered_json::array()}};
  for (const MarketRow& row : rows) {
    nlohmann::ordered_json entry;
    entry["method"] = std::string(to_string(row.method));
    entry["sellers"] = row.load.sellers;
    entry["buyers"] = row.load.buyers;
    entry["listed"] = row.result.listed;
    entry["bought"] = row.result.bought;
    entry["retries"] = row.result.retries;
    entry["gone"] = row.result.gone;
    entry["listed_and_bought_per_s"] = std::llround(row.per_minute() / 60);
    entry["purchase_p50_us"] = row.purchase_us(50);
    entry["purchase_p99_us"] = row.purchase_us(99);
    json["rows"].push_back(std::move(entry));
  }
  return json_line(json);
}

std::string rows_text(const Style& style, const std::vector<MarketRow>& rows, std::size_t nodes) {
  std::string text =
      style.paint(Style::Colour::faint,
                  fmt::format("{:<14} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10} {:>13} {:>13}\n",
                              "method", "sellers×b", "listed", "bought", "retries", "gone",
                              "per 60 s", "purchase p50", "purchase p99"));
  for (const MarketRow& row : rows) {
    fmt::format_to(std::back_inserter(text),
                   "{:<14} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10.0f} {:>10.0f} µs {:>10.0f} µs\n",
                   to_string(row.method), fmt::format("{}x{}", row.load.sellers, row.load.buyers),
                   row.result.listed, row.result.bought, row.result.retries, row.result.gone,
                   row.per_minute(), row.purchase_us(50), row.purchase_us(99));
  }
  return text +
         style.paint(Style::Colour::faint,
                     fmt::format("locks over {} nodes; the market on one more server\n", nodes));
}

/// Throws std::runtime_error.
bench::MarketLock market_lock(ClientOptions options) {
  Result<Client> made = Client::create(std::move(options));
  if (!made) throw std::runtime_error(made.error().message);
  const auto client = std::make_shared<Client>(*std::move(made));
  return [client](const std::string& resource) -> std::function<void()> {
    auto lease = client->try_acquire_for(resource, std::chrono::seconds{10});
    if (!lease) return nullptr;
    // Dropping the lease releases it, without a wait for the answers.
    return [held = std::make_shared<Lease>(*std::move(lease))]() mutable { held.reset(); };
  };
}

}  // namespace

int run_market_mode(const Arguments& given, const Signals& signals) {
  Settings settings = resolve_settings(given, NodesNeeded::optional);
  if (!settings.nodes.empty()) {
    throw UsageError("--nodes: not with market: it starts its own, and one for the market");
  }
  const auto duration = given.positive_duration("duration").value_or(std::chrono::seconds{5});
  const std::size_t nodes = settings.local.value_or(3);
  if (nodes >= limits::nodes) {
    throw UsageError(fmt::format("--local: at most {} with market", limits::nodes - 1));
  }
  settings.local = nodes + 1;

  const Session session(settings, signals, LocalNodes::Reach::loopback);
  std::vector<std::string> lock_nodes = session.nodes();
  const auto data = plain_endpoint(lock_nodes.back());
  lock_nodes.pop_back();
  // A deployment of all nodes is open. If the nodes did not forget it, a deployment without the
  // last node would have to wait for the max TTL, because of locks in the larger one.
  session.reopen_local_nodes(lock_nodes);

  std::atomic<int> stop{0};
  SignalWatcher watcher(signals, [&stop](int signal) { stop = signal; });
  std::vector<MarketRow> rows;
  std::string problem;
  {
    Progress progress(std::size(loads) * std::size(methods), duration);
    for (const Load load : loads) {
      for (const bench::MarketMethod method : methods) {
        if (stop.load() != 0 || !problem.empty()) break;
        progress.show(rows.size(),
                      fmt::format("{} with {}x{}", to_string(method), load.sellers, load.buyers));
        bench::MarketSettings market{*data, method, load.sellers, load.buyers, duration, &stop, {}};
        market.connect = [&] { return market_lock(client_options(settings, lock_nodes)); };
        auto outcome = bench::run_market(market);
        if (auto* why = std::get_if<std::string>(&outcome)) {
          problem = *why;
          break;
        }
        rows.push_back({method, load, std::get<bench::MarketResult>(std::move(outcome))});
        problem = rows.back().result.wrong;
      }
    }
  }
  const int signal = watcher.finish();
  if (!problem.empty()) {
    print_error("the market does not add up: " + problem);
    return code(ExitCode::failure);
  }
  if (signal != 0) return code_of_signal(signal);
  return print_result(settings.format == Settings::Format::json
                          ? rows_json(rows)
                          : rows_text(Style::of_standard_output(), rows, nodes));
}

}  // namespace redlock::cli
