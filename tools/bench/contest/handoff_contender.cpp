#include "bench/contest/handoff_contender.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include "bench/contest/contender_side.hpp"
#include "bench/contest/handoff_board.hpp"
#include "bench/floor/floor_contender.hpp"
#include "bench/measure/endpoint.hpp"
#include "common/text/json_line.hpp"
#include "redlock/client.hpp"

namespace redlock::cli {
namespace {

using bench::HandoffLock;
using std::chrono::nanoseconds;

HandoffRequest handoff_request_of(const nlohmann::json& json) {
  HandoffRequest request;
  request.side =
      json.at("floor").get<bool>() ? HandoffRequest::Side::floor : HandoffRequest::Side::ours;
  request.resource = json.at("resource");
  request.board = json.at("board");
  request.index = json.at("index");
  request.contenders = json.at("contenders");
  request.acquisitions = json.at("acquisitions");
  request.hold = nanoseconds{json.at("hold").get<std::int64_t>()};
  request.patience = nanoseconds{json.at("patience").get<std::int64_t>()};
  request.settings = passed_settings(json.at("settings"));
  return request;
}

/// One client of the library.
class ClientLock final : public HandoffLock {
 public:
  explicit ClientLock(const HandoffRequest& request)
      : resource_(request.resource), patience_(request.patience), client_(connected(request)) {
    options_.ttl = default_ttl(request.settings);
    // All nodes have answered before anything is measured.
    if (const auto seen = client_.inspect(resource_); !seen) {
      throw std::runtime_error(seen.error().message);
    }
  }

  void acquire(Entry /*entry*/) override {
    auto lease = client_.try_acquire_for(resource_, patience_, options_);
    if (!lease) throw std::runtime_error(lease.error().message);
    lease_ = *std::move(lease);
  }

  bool release(Next /*next*/) override { return lease_.release().has_value(); }

 private:
  static Client connected(const HandoffRequest& request) {
    auto client = Client::create(client_options(request.settings, request.settings.nodes));
    if (!client) throw std::runtime_error(client.error().message);
    return *std::move(client);
  }

  std::string resource_;
  nanoseconds patience_;
  AcquireOptions options_;
  Client client_;
  Lease lease_;
};

std::unique_ptr<HandoffLock> make_floor(const HandoffRequest& request) {
  const auto channel = [&](std::size_t index) {
    return fmt::format("{}/{}", request.resource, index % request.contenders);
  };
  const bool is_gate = request.index == handoff_gate_index;
  bench::FloorContender::Place place;
  place.resource = request.resource;
  if (!is_gate) place.channel = channel(request.index);
  place.next_channel = channel(is_gate ? 0 : request.index + 1);
  std::vector<bench::Endpoint> nodes;
  for (const std::string& url : request.settings.nodes) {
    nodes.push_back(plain_endpoint(url).value_or(bench::Endpoint{}));
  }
  return std::make_unique<bench::FloorContender>(nodes, place);
}

class HandoffContender {
 public:
  explicit HandoffContender(const HandoffRequest& request)
      : request_(request),
        board_(
            bench::HandoffBoard::open(request.board, request.contenders, handoff_records(request))),
        lock_(make_handoff_lock(request)),
        is_last_(request.index + 1 == request.contenders) {}

  void obey() {
    say(contender_word::ready);
    while (const auto order = next_order()) {
      if (*order == handoff_order::reentry) {
        reenter();
      } else {
        run_lap(*order == handoff_order::lap);
      }
      if (board_.finished().fetch_add(1) + 1 == request_.contenders) say(handoff_word::done);
    }
  }

 private:
  static void say(char word) { say_to_parent({&word, 1}); }

  /// The last contender of a lap hands over to nobody: the gate acquires when all are done.
  void run_lap(bool measured) {
    bench::HandoffRecord record;
    record.contender = static_cast<std::uint32_t>(request_.index);
    record.began = bench::handoff_now();
    say(handoff_word::asking);
    lock_->acquire(HandoffLock::Entry::waiting);
    record.granted = bench::handoff_now();
    board_.granted().fetch_add(1);
    if (measured) std::this_thread::sleep_for(request_.hold);
    record.released = bench::handoff_now();
    const bool good =
        lock_->release(is_last_ ? HandoffLock::Next::nobody : HandoffLock::Next::waits);
    record.unacknowledged = good ? 0 : 1;
    if (measured) board_.add(record);
  }

  void reenter() {
    // The floor passes the lock from contender to contender. Nobody wakes its first holder.
    auto entry = request_.index == 0 ? HandoffLock::Entry::free : HandoffLock::Entry::waiting;
    while (board_.granted().load() < request_.acquisitions) {
      bench::HandoffRecord record;
      record.contender = static_cast<std::uint32_t>(request_.index);
      record.began = bench::handoff_now();
      lock_->acquire(std::exchange(entry, HandoffLock::Entry::waiting));
      record.granted = bench::handoff_now();
      const bool counts = board_.granted().fetch_add(1) < request_.acquisitions;
      if (counts) std::this_thread::sleep_for(request_.hold);
      record.released = bench::handoff_now();
      record.unacknowledged = lock_->release(HandoffLock::Next::waits) ? 0 : 1;
      board_.add(record);
    }
  }

  const HandoffRequest& request_;
  bench::HandoffBoard board_;
  std::unique_ptr<HandoffLock> lock_;
  bool is_last_;
};

}  // namespace

std::string to_line(const HandoffRequest& request) {
  nlohmann::ordered_json json;
  json["floor"] = request.side == HandoffRequest::Side::floor;
  json["resource"] = request.resource;
  json["board"] = request.board;
  json["index"] = request.index;
  json["contenders"] = request.contenders;
  json["acquisitions"] = request.acquisitions;
  json["hold"] = request.hold.count();
  json["patience"] = request.patience.count();
  json["settings"] = settings_to_pass(request.settings);
  return json_line(json);
}

std::size_t handoff_records(const HandoffRequest& request) noexcept {
  // One contender can get all acquisitions, and each contender gets one more after the last.
  return request.acquisitions + 1;
}

std::unique_ptr<bench::HandoffLock> make_handoff_lock(const HandoffRequest& request) {
  if (request.side == HandoffRequest::Side::floor) return make_floor(request);
  return std::make_unique<ClientLock>(request);
}

int run_handoff_contender() {
  return run_contender_side([](const nlohmann::json& json) {
    const HandoffRequest request = handoff_request_of(json);
    HandoffContender(request).obey();
  });
}

}  // namespace redlock::cli
