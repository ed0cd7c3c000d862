#include "quorum-lock/locks/wait_notice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <map>
#include <string_view>

#include "common/session/holder_text.hpp"
#include "common/session/output.hpp"
#include "common/text/log.hpp"
#include "common/text/text.hpp"

namespace redlock::cli {
namespace {

constexpr std::chrono::seconds silent_for{1};
constexpr std::chrono::seconds asks_every_on_terminal{1};
/// Not on a terminal: only changes are reported there, and each question costs the nodes a command.
constexpr std::chrono::seconds asks_every{5};

std::vector<std::string> all_resources(const Target& target) {
  std::vector<std::string> all{target.resource()};
  for (const std::string& more : target.more_resources()) all.push_back(more);
  return all;
}

/// A duration for people, with few digits.
std::string brief(std::chrono::nanoseconds span) {
  const auto seconds = std::chrono::duration<double>(span).count();
  return seconds < 10 ? fmt::format("{:.1f} s", seconds) : fmt::format("{:.0f} s", seconds);
}

std::size_t width_of_terminal() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col - std::size_t{1} : 79;
}

void draw(const std::string& text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

}  // namespace

std::optional<Obstacle> find_missing_votes(const Metrics& metrics) {
  std::size_t quarantined = 0;
  std::optional<std::chrono::nanoseconds> left;
  std::map<std::string, std::size_t> down;    // by the reason
  std::map<std::string, std::size_t> others;  // by what is wrong with them
  for (const NodeMetrics& node : metrics.nodes) {
    const std::string why = node.problem.substr(0, node.problem.find_last_not_of('.') + 1);
    if (!node.up) {
      ++down[why];
    } else if (node.quarantine.count() > 0 && node.problem.starts_with("quarantined")) {
      ++quarantined;
      left = std::max(left.value_or(node.quarantine), node.quarantine);
    } else if (!why.empty()) {
      ++others[why];
    }
  }
  const std::size_t all = metrics.nodes.size();
  std::size_t voters = all - quarantined;
  for (const auto& [why, count] : down) voters -= count;
  for (const auto& [why, count] : others) voters -= count;
  if (voters >= metrics.quorum) return std::nullopt;
  std::vector<std::string> parts;
  const auto add = [&](std::size_t count, const std::string& one, const std::string& several) {
    if (count == 0) return;
    const std::string who = all == 1 ? "the node" : fmt::format("{} of {} nodes", count, all);
    parts.push_back(fmt::format("{} {}", who, count == 1 ? one : several));
  };
  for (const auto& [why, count] : down) {
    add(count, "is not connected: " + why, "are not connected: " + why);
  }
  add(quarantined, "is in quarantine", "are in quarantine");
  for (const auto& [why, count] : others) {
    add(count, "gives no vote: " + why, "give no vote: " + why);
  }
  // Waiting for the end of the quarantine is not enough if others are missing too.
  if (voters + quarantined < metrics.quorum) left.reset();
  if (all < metrics.members) {
    parts.push_back(fmt::format("the list of nodes has {} of {} members", all, metrics.members));
  }
  return Obstacle{fmt::format("{}", fmt::join(parts, "; ")), left};
}

std::optional<Obstacle> find_obstacle(const Inspection& inspection) {
  const bool is_free =
      inspection.state == Inspection::State::free && inspection.kind != LockKind::reserved;
  if (is_free) return std::nullopt;
  return Obstacle{obstacle_text(inspection), longest_left(inspection)};
}

std::string wait_text(const std::vector<std::string>& resources, const Obstacle& obstacle,
                      std::chrono::nanoseconds limit, std::chrono::nanoseconds waited) {
  std::string line =
      resources.size() > 1
          ? fmt::format("waiting for {} resources: {}", resources.size(), obstacle.what)
          : fmt::format("waiting for '{}': {}", as_printable(resources.at(0)), obstacle.what);
  if (obstacle.left) line += fmt::format(", {} left", brief(*obstacle.left));
  if (limit == forever) return line + "; waits for as long as it takes";
  const auto rest = std::max(limit - waited, std::chrono::nanoseconds::zero());
  return line + "; gives up in " + brief(rest);
}

WaitNotice::WaitNotice(Client& client, const Settings& settings, const Target& target,
                       std::chrono::nanoseconds limit)
    : client_(client),
      resources_(all_resources(target)),
      permits_(target.permits()),
      limit_(limit),
      begun_(std::chrono::steady_clock::now()),
      on_terminal_(log_form() == LogForm::text && ::isatty(STDERR_FILENO) == 1) {
  const bool wanted = settings.detail != Settings::Detail::quiet && limit > silent_for;
  if (wanted) thread_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
}

void WaitNotice::end() {
  thread_.request_stop();
  const std::lock_guard lock(mutex_);
  if (!ended_ && on_terminal_ && !said_.empty()) draw("\r\x1b[K");
  ended_ = true;
}

void WaitNotice::follow(const std::stop_token& stop) {
  std::chrono::seconds pause = silent_for;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (stopped_.wait_for(lock, stop, pause, [&stop] { return stop.stop_requested(); })) return;
    }
    const Obstacle obstacle = find(stop);
    if (stop.stop_requested()) return;
    say(obstacle);
    pause = on_terminal_ ? asks_every_on_terminal : asks_every;
  }
}

Obstacle WaitNotice::find(const std::stop_token& stop) const {
  if (const Result<Metrics> metrics = client_.metrics()) {
    if (auto missing = find_missing_votes(*metrics)) return *std::move(missing);
  }
  if (permits_ == 1) return {"the only permit is taken", std::nullopt};
  if (permits_ > 1) return {fmt::format("all {} permits are taken", permits_), std::nullopt};
  for (const std::string& resource : resources_) {
    if (stop.stop_requested()) break;
    const Result<Inspection> inspection = client_.inspect(resource);
    if (!inspection) return {inspection.error().message, std::nullopt};
    std::optional<Obstacle> obstacle = find_obstacle(*inspection);
    if (!obstacle) continue;
    if (resources_.size() > 1) {
      obstacle->what = fmt::format("'{}': {}", as_printable(resource), obstacle->what);
    }
    return *obstacle;
  }
  return {"free, and asked for", std::nullopt};
}

void WaitNotice::say(const Obstacle& obstacle) {
  const std::lock_guard lock(mutex_);
  if (ended_ || (!on_terminal_ && obstacle.what == said_)) return;
  said_ = obstacle.what;
  const std::string line =
      wait_text(resources_, obstacle, limit_, std::chrono::steady_clock::now() - begun_);
  if (!on_terminal_) return write_log({LogLine::Level::info, line, {}, {}, {}});
  const std::string drawn = as_printable("quorum-lock: " + line);
  draw("\r\x1b[K" + drawn.substr(0, width_of_terminal()));
}

}  // namespace redlock::cli
