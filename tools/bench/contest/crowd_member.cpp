#include "bench/contest/crowd_member.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <latch>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include "bench/contest/contender_side.hpp"
#include "bench/contest/crowd_board.hpp"
#include "bench/contest/handoff_figures.hpp"
#include "common/text/json_line.hpp"
#include "redlock/client.hpp"

namespace redlock::cli {
namespace {

using bench::CrowdBoard;

CrowdRequest crowd_request_of(const nlohmann::json& json) {
  CrowdRequest request;
  request.settings = passed_settings(json.at("settings"));
  request.resource = json.at("resource");
  request.board = json.at("board");
  request.clients = json.at("clients");
  request.first = json.at("first");
  request.count = json.at("count");
  request.hold = std::chrono::nanoseconds{json.at("hold").get<std::int64_t>()};
  return request;
}

/// The clients of this process, each with a thread that blocks.
class CrowdMember {
 public:
  explicit CrowdMember(const CrowdRequest& request)
      : request_(request),
        board_(CrowdBoard::open(request.board, request.clients)),
        connected_(static_cast<std::ptrdiff_t>(request.count)) {
    options_.ttl = default_ttl(request.settings);
  }
  ~CrowdMember() {
    for (std::jthread& thread : threads_) thread.request_stop();
    // Without the order to go, the threads still wait for it.
    if (!gone_) go_.count_down();
  }
  CrowdMember(const CrowdMember&) = delete;
  CrowdMember& operator=(const CrowdMember&) = delete;

  void obey() {
    say_to_parent({&contender_word::ready, 1});
    while (const auto order = next_order()) {
      if (*order == crowd_order::connect) connect();
      if (*order == crowd_order::go && !gone_) {
        gone_ = true;
        go_.count_down();
      }
    }
  }

 private:
  void connect() {
    for (std::size_t i = 0; i < request_.count; ++i) {
      threads_.emplace_back(
          [this, client = request_.first + i](const std::stop_token& end) { run(client, end); });
    }
    // The parent ends a process that takes too long.
    connected_.wait();
    const std::lock_guard lock(mutex_);
    if (!problem_.empty()) throw std::runtime_error(problem_);
    say_to_parent({&crowd_word::connected, 1});
  }

  void run(std::size_t index, const std::stop_token& end) {
    auto client = Client::create(client_options(request_.settings, request_.settings.nodes));
    if (!client) {
      fail(client.error().message);
    } else if (const auto seen = acquire_own(*client, index, end); !seen) {
      fail(seen.error().message);
    }
    connected_.count_down();
    go_.wait();
    while (client && !end.stop_requested()) take_turn(*client, board_.clients()[index], end);
  }

  /// A lock that nobody else wants is granted as soon as a quorum of the nodes answers.
  Result<Lease> acquire_own(Client& client, std::size_t index, const std::stop_token& end) {
    auto lease = client.acquire(fmt::format("{}/{}", request_.resource, index), options_, end);
    if (lease) static_cast<void>(lease->release());
    return lease;
  }

  void fail(const std::string& why) {
    const std::lock_guard lock(mutex_);
    problem_ = why;
  }

  void take_turn(Client& client, CrowdBoard::Client& own, const std::stop_token& end) {
    const std::int64_t began = bench::handoff_now();
    own.waits_since = static_cast<std::uint64_t>(began);
    auto lease = client.acquire(request_.resource, options_, end);
    const auto waited = static_cast<std::uint64_t>(bench::handoff_now() - began);
    CrowdBoard::Head& all = board_.head();
    const bool counts = all.counting.load() != 0;
    if (!lease) {
      if (counts && !end.stop_requested()) ++all.failures;
      return;
    }
    if (all.inside++ != 0) ++all.overlaps;
    own.waits_since = 0;
    if (counts) {
      ++own.grants;
      own.longest_wait_ns = std::max(own.longest_wait_ns.load(), waited);
    }
    std::this_thread::sleep_for(request_.hold);
    --all.inside;
    // A key whose release a node did not confirm expires; the others wait for that, and the figures
    // show it.
    static_cast<void>(lease->release());
  }

  const CrowdRequest& request_;
  CrowdBoard board_;
  AcquireOptions options_{};
  std::latch connected_;
  std::latch go_{1};
  bool gone_ = false;
  std::mutex mutex_{};
  std::string problem_{};
  std::vector<std::jthread> threads_{};  // last: they use the others
};

}  // namespace

std::string to_line(const CrowdRequest& request) {
  nlohmann::ordered_json json;
  json["settings"] = settings_to_pass(request.settings);
  json["resource"] = request.resource;
  json["board"] = request.board;
  json["clients"] = request.clients;
  json["first"] = request.first;
  json["count"] = request.count;
  json["hold"] = request.hold.count();
  return json_line(json);
}

int run_crowd_member() {
  return run_contender_side([](const nlohmann::json& json) {
    const CrowdRequest request = crowd_request_of(json);
    CrowdMember(request).obey();
  });
}

}  // namespace redlock::cli
