#include <array>
#include <charconv>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/metrics.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {
namespace {

using Seconds = std::chrono::duration<double>;

/// The range of buckets that is shown: durations below and above it are counted in the first and in
/// the last. The range must be the same in every text, or sums of series would not add up.
struct Buckets {
  std::size_t first = 0;
  std::size_t last = 0;
};
constexpr Buckets of_round_trips{4, 22};  // 16 µs to 4 s
constexpr Buckets of_leases{7, 30};       // 131 µs to 18 min

class Text {
 public:
  explicit Text(const std::vector<MetricLabel>& labels) {
    for (const MetricLabel& one : labels) {
      common_ = with(common_, label(name_of_label(one.name), one.value));
    }
  }
  [[nodiscard]] std::string take() && { return std::move(text_); }

  /// Begins a metric: the samples that follow belong to it.
  void describe(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_.append("# HELP ").append(name).append(" ").append(help);
    text_.append("\n# TYPE ").append(name).append(" ").append(type).append("\n");
  }

  /// `labels`: made by label(), with commas in between.
  template <std::integral Number>
  void sample(std::string_view labels, Number value) {
    begin_sample({}, labels);
    number(value);
  }
  void sample(std::string_view labels, Seconds value) {
    begin_sample({}, labels);
    number(value.count());
  }

  void histogram(std::string_view labels, const DurationHistogram& values, Buckets buckets) {
    std::uint64_t counted = 0;
    for (std::size_t i = 0; i <= buckets.last; ++i) {
      counted += values.counts[i];
      if (i >= buckets.first) bucket(labels, Seconds(DurationHistogram::bound(i)).count(), counted);
    }
    const std::uint64_t all = values.count();
    begin_sample("_bucket", with(labels, R"(le="+Inf")"));
    number(all);
    begin_sample("_sum", labels);
    number(Seconds(values.sum).count());
    begin_sample("_count", labels);
    number(all);
  }

  [[nodiscard]] static std::string label(std::string_view name, std::string_view value) {
    std::string text(name);
    text += "=\"";
    for (const char c : value) {
      if (c == '\n') {
        text += "\\n";
        continue;
      }
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    return text + '"';
  }

  [[nodiscard]] static std::string with(std::string_view labels, std::string_view more) {
    std::string all(labels);
    if (!all.empty()) all += ',';
    return all.append(more);
  }

 private:
  void bucket(std::string_view labels, double bound, std::uint64_t count) {
    begin_sample("_bucket", with(labels, label("le", text_of(bound))));
    number(count);
  }

  void begin_sample(std::string_view suffix, std::string_view labels) {
    text_.append(name_).append(suffix);
    const bool both = !common_.empty() && !labels.empty();
    if (!common_.empty() || !labels.empty()) {
      text_.append("{").append(common_).append(both ? "," : "").append(labels).append("}");
    }
    text_ += ' ';
  }

  [[nodiscard]] static std::string name_of_label(std::string_view name) {
    constexpr std::string_view digits = "0123456789";
    constexpr std::string_view allowed =
        "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    std::string text;
    for (const char c : name) text += allowed.find(c) == std::string_view::npos ? '_' : c;
    const bool begins_well = !text.empty() && digits.find(text.front()) == std::string_view::npos;
    return begins_well ? text : "_" + text;
  }

  template <typename Number>
  [[nodiscard]] static std::string text_of(Number value) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return {digits.data(), end};
  }

  template <typename Number>
  void number(Number value) {
    text_.append(text_of(value)).append("\n");
  }

  std::string common_;  ///< labels
  std::string text_;
  std::string_view name_;
};

void write_acquires(Text& text, const Metrics& metrics) {
  const Metrics::Acquires& acquires = metrics.acquires;
  text.describe("redlock_acquires_total", "counter", "Acquire calls by how they ended.");
  const auto ended = [&](std::string_view outcome, std::uint64_t count) {
    text.sample(Text::label("outcome", outcome), count);
  };
  ended("granted", acquires.granted);
  ended("held", acquires.held);
  ended("split", acquires.split);
  ended("unavailable", acquires.unavailable);
  ended("expired", acquires.expired);
  ended("excluded", acquires.excluded);
  ended("cancelled", acquires.cancelled);
  ended("closed", acquires.closed);
  ended("limit_reached", acquires.limit_reached);

  text.describe("redlock_attempts_total", "counter", "Rounds of acquire calls.");
  text.sample({}, metrics.attempts);
  text.describe("redlock_handovers_total", "counter",
                "Leases granted to an attempt that a notification began.");
  text.sample({}, metrics.handovers);
  text.describe("redlock_fenced_acquires_total", "counter",
                "Leases with a fencing token, by the rounds that the token took.");
  text.sample(R"(rounds="one")", metrics.fenced_in_one_round);
  text.sample(R"(rounds="more")", metrics.fenced_in_more_rounds);
  text.describe("redlock_acquires_in_progress", "gauge", "Acquire calls that have not answered.");
  text.sample({}, metrics.acquires_in_progress);
  text.describe("redlock_acquires_waiting", "gauge",
                "Acquire calls that were refused and wait for their next attempt.");
  text.sample({}, metrics.acquires_waiting);
  text.describe("redlock_acquire_wait_seconds", "histogram",
                "From the beginning of an acquire call until its lease was granted.");
  text.histogram({}, metrics.waits, of_leases);
}

void write_leases(Text& text, const Metrics& metrics) {
  text.describe("redlock_leases_held", "gauge", "Leases that this client holds.");
  text.sample({}, metrics.leases_held);
  text.describe("redlock_leases_lost_total", "counter", "Leases whose deadline passed.");
  text.sample({}, metrics.leases_lost);
  text.describe("redlock_renewals_total", "counter", "Rounds that extended a lease, or failed to.");
  text.sample(R"(outcome="done")", metrics.renewals_done);
  text.sample(R"(outcome="failed")", metrics.renewals_failed);
  text.describe("redlock_lease_hold_seconds", "histogram",
                "From the grant of a lease until it was released, detached or lost.");
  text.histogram({}, metrics.holds, of_leases);
  text.describe("redlock_quorum", "gauge", "Votes that a lease needs now.");
  text.sample({}, metrics.quorum);
  text.describe("redlock_members", "gauge", "Members of the deployment.");
  text.sample({}, metrics.members);
}

/// One metric of all nodes: samples of a metric belong together.
template <typename Write>
void each_node(Text& text, const Metrics& metrics, Write&& write) {
  for (const NodeMetrics& node : metrics.nodes) write(text, node, Text::label("node", node.node));
}

void write_votes(Text& text, const NodeMetrics& node, const std::string& label) {
  const auto votes = [&](std::string_view vote, std::uint64_t count) {
    text.sample(Text::with(label, Text::label("vote", vote)), count);
  };
  votes("granted", node.votes.granted);
  votes("refused", node.votes.refused);
  votes("timeout", node.votes.timeout);
  votes("unreachable", node.votes.unreachable);
  votes("error", node.votes.error);
  votes("excluded", node.votes.excluded);
}

void write_node_states(Text& text, const Metrics& metrics) {
  text.describe("redlock_node_up", "gauge", "1 while the node is connected.");
  each_node(text, metrics, [](Text& out, const NodeMetrics& node, const std::string& label) {
    out.sample(label, int{node.up});
  });
  text.describe("redlock_node_may_vote", "gauge",
                "1 while the node is connected and no guard excludes it.");
  each_node(text, metrics, [](Text& out, const NodeMetrics& node, const std::string& label) {
    out.sample(label, int{node.may_vote});
  });
  text.describe("redlock_node_quarantine_seconds", "gauge",
                "How long the node has no vote for new leases yet.");
  each_node(text, metrics, [](Text& out, const NodeMetrics& node, const std::string& label) {
    out.sample(label, Seconds(node.quarantine));
  });
  text.describe("redlock_node_clock_offset_seconds", "gauge",
                "The node's wall clock less the median of all nodes' wall clocks.");
  each_node(text, metrics, [](Text& out, const NodeMetrics& node, const std::string& label) {
    if (node.clock_offset) out.sample(label, Seconds(*node.clock_offset));
  });
  text.describe("redlock_node_owed_releases", "gauge",
                "Releases that the node has not received yet.");
  each_node(text, metrics, [](Text& out, const NodeMetrics& node, const std::string& label) {
    out.sample(label, node.owed_releases);
  });
}

void write_node_counts(Text& text, const Metrics& metrics) {
  text.describe("redlock_node_votes_total", "counter",
                "Votes in rounds that acquire or extend a lease.");
  each_node(text, metrics, write_votes);
  text.describe("redlock_node_reconnects_total", "counter",
                "Connections to the node after the first.");
  each_node(text, metrics, [](Text& out, const NodeMetrics& node, const std::string& label) {
    out.sample(label, node.reconnects);
  });
  text.describe("redlock_node_fencing_raises_total", "counter",
                "Requests to raise a fencing number after the first round trip.");
  each_node(text, metrics, [](Text& out, const NodeMetrics& node, const std::string& label) {
    out.sample(label, node.fencing_raises);
  });
  text.describe("redlock_node_round_trip_seconds", "histogram",
                "How long the node took to answer a request for a vote.");
  each_node(text, metrics, [](Text& out, const NodeMetrics& node, const std::string& label) {
    out.histogram(label, node.round_trips, of_round_trips);
  });
}

}  // namespace

std::string to_prometheus(const Metrics& metrics, const std::vector<MetricLabel>& labels) {
  Text text(labels);
  write_acquires(text, metrics);
  write_leases(text, metrics);
  write_node_states(text, metrics);
  write_node_counts(text, metrics);
  return std::move(text).take();
}

}  // namespace REDLOCK_ABI
}  // namespace redlock
