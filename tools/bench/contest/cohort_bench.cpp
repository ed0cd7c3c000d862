#include "bench/contest/cohort_bench.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "bench/measure/histogram.hpp"
#include "common/session/exit_code.hpp"
#include "common/session/output.hpp"
#include "common/session/progress.hpp"
#include "common/session/session.hpp"
#include "common/text/json_line.hpp"
#include "redlock/deployment.hpp"
#include "redlock/mutex.hpp"

namespace redlock::cli {
namespace {

struct CohortRow {
  std::uint64_t threads = 0;
  bool contended = false;  ///< another client wants the lock all the time
  std::uint64_t turns = 0;
  std::uint64_t leases = 0;
  std::chrono::nanoseconds elapsed{0};
  bench::Histogram wait_of_other{};

  [[nodiscard]] double per_second() const {
    const double seconds = std::chrono::duration<double>(elapsed).count();
    return seconds <= 0 ? 0 : static_cast<double>(turns) / seconds;
  }
  [[nodiscard]] double passes_per_lease() const {
    return leases == 0 ? 0 : static_cast<double>(turns - leases) / static_cast<double>(leases);
  }
};

double us(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

/// One measurement. The lock that is measured guards the counter of the turns.
class CohortRun {
 public:
  CohortRun(Client& client, Client& other, std::string resource, CohortRow& row)
      : resource_(std::move(resource)), mutex_(client, resource_), other_(other), row_(row) {}

  void run(std::chrono::nanoseconds duration, const std::atomic<int>& stop) {
    const auto began = BootClock::now();
    {
      std::vector<std::jthread> threads;
      for (std::uint64_t i = 0; i < row_.threads; ++i) {
        threads.emplace_back([this](const std::stop_token& end) { take_turns(end); });
      }
      if (row_.contended) {
        threads.emplace_back([this](const std::stop_token& end) { contend(end); });
      }
      while (BootClock::now() - began < duration && stop.load() == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
      }
      for (std::jthread& thread : threads) thread.request_stop();
    }
    row_.elapsed = BootClock::now() - began;
  }

 private:
  void take_turns(const std::stop_token& end) {
    try {
      while (!end.stop_requested() && mutex_.lock(end)) {
        count_turn();
        mutex_.unlock();
      }
    } catch (const std::system_error&) {
      // The turns of a client that fails are missing in the result.
    }
  }

  void count_turn() {
    ++row_.turns;
    const std::string_view token = mutex_.lease().token().view();
    if (token == token_) return;
    token_ = token;
    ++row_.leases;
  }

  void contend(const std::stop_token& end) {
    while (!end.stop_requested()) {
      const auto asked = BootClock::now();
      const auto lease = other_.acquire(resource_, {}, end);
      if (lease) row_.wait_of_other.record(BootClock::now() - asked);
    }
  }

  const std::string resource_;
  Mutex mutex_;
  Client& other_;
  CohortRow& row_;
  std::string token_;
};

std::string cohort_json(const std::vector<CohortRow>& rows) {
  nlohmann::ordered_json json{{"mode", "cohort"}, {"rows", nlohmann::ordered_json::array()}};
  for (const CohortRow& row : rows) {
    nlohmann::ordered_json entry;
    entry["threads"] = row.threads;
    entry["other_client"] = row.contended;
    entry["acquisitions"] = row.turns;
    entry["acquisitions_per_s"] = std::llround(row.per_second());
    entry["leases"] = row.leases;
    entry["passes_per_lease"] = row.passes_per_lease();
    if (row.contended) {
      entry["other_acquisitions"] = row.wait_of_other.count();
      entry["other_wait_p50_us"] = us(row.wait_of_other.percentile(50));
      entry["other_wait_p99_us"] = us(row.wait_of_other.percentile(99));
      entry["other_wait_max_us"] = us(row.wait_of_other.max());
    }
    json["rows"].push_back(std::move(entry));
  }
  return json_line(json);
}

std::string cohort_text(const Style& style, const std::vector<CohortRow>& rows, std::size_t nodes) {
  std::string text =
      style.paint(Style::Colour::faint,
                  fmt::format("{:>7} {:>14} {:>12} {:>14} {:>15} {:>15}\n", "threads", "acquired/s",
                              "leases", "passes/lease", "other's p50", "other's max"));
  for (const CohortRow& row : rows) {
    fmt::format_to(std::back_inserter(text), "{:>7} {:>14.0f} {:>12} {:>14.1f}", row.threads,
                   row.per_second(), row.leases, row.passes_per_lease());
    text += row.contended
                ? fmt::format(" {:>12.0f} µs {:>12.0f} µs\n", us(row.wait_of_other.percentile(50)),
                              us(row.wait_of_other.max()))
                : std::string("\n");
  }
  return text + style.paint(Style::Colour::faint,
                            fmt::format("threads on one Mutex over {} nodes; the other is one more "
                                        "client, which wants the lock all the time\n",
                                        nodes));
}

std::vector<CohortRow> measure(const std::vector<std::uint64_t>& counts, Client& client,
                               Client& other, std::chrono::nanoseconds duration,
                               const std::atomic<int>& stop) {
  std::vector<CohortRow> rows;
  Progress progress(counts.size() * 2, duration);
  for (const std::uint64_t threads : counts) {
    for (const bool contended : {false, true}) {
      if (stop.load() != 0) return rows;
      progress.show(rows.size(),
                    fmt::format("{} threads{}", threads, contended ? " and another client" : ""));
      CohortRow row;
      row.threads = threads;
      row.contended = contended;
      CohortRun(client, other,
                fmt::format("quorum-lock-bench/{}/cohort-{}", ::getpid(), rows.size()), row)
          .run(duration, stop);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace

int run_cohort_bench(const Arguments& given, const Signals& signals) {
  Settings settings = resolve_settings(given, NodesNeeded::optional);
  const auto counts = given.numbers("contenders").value_or(std::vector<std::uint64_t>{1, 8, 64});
  const auto duration = given.positive_duration("duration").value_or(std::chrono::seconds{2});
  if (settings.nodes.empty() && !settings.local) settings.local = 5;

  const Session session(settings, signals, LocalNodes::Reach::loopback);
  const ClientOptions options = client_options(settings, session.nodes());
  if (session.is_local()) {
    const auto opened = admin::bootstrap(options);
    if (!opened) return report_failure(settings, {}, opened.error());
  }
  Result<Client> client = Client::create(options);
  if (!client) return report_failure(settings, {}, client.error());
  Result<Client> other = Client::create(options);
  if (!other) return report_failure(settings, {}, other.error());

  std::atomic<int> stop{0};
  SignalWatcher watcher(signals, [&stop](int signal) { stop = signal; });
  const std::vector<CohortRow> rows = measure(counts, *client, *other, duration, stop);
  const int signal = watcher.finish();
  if (signal != 0) return code_of_signal(signal);
  for (const CohortRow& row : rows) {
    if (row.turns > 0) continue;
    print_error(fmt::format("unavailable: none of {} threads was granted the lock", row.threads));
    return code(ExitCode::unavailable);
  }
  return print_result(settings.format == Settings::Format::json
                          ? cohort_json(rows)
                          : cohort_text(Style::of_standard_output(), rows, session.nodes().size()));
}

}  // namespace redlock::cli
