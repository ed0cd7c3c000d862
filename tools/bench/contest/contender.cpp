#include "bench/contest/contender.hpp"

#include <fmt/format.h>

#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "bench/contest/contender_side.hpp"
#include "bench/contest/contest_board.hpp"
#include "common/text/json_line.hpp"
#include "redlock/client.hpp"

namespace redlock::cli {
namespace {

using bench::contest_now;

ContestRequest contest_request_of(const nlohmann::json& json) {
  ContestRequest request;
  request.settings = passed_settings(json.at("settings"));
  request.resource = json.at("resource");
  request.board = json.at("board");
  request.records = json.at("records");
  request.clients = json.at("clients");
  request.first = json.at("first");
  request.count = json.at("count");
  request.grants = json.at("grants");
  request.hold = std::chrono::nanoseconds{json.at("hold").get<std::int64_t>()};
  return request;
}

void say(char word) { say_to_parent({&word, 1}); }

/// The contenders of this process. Each has a client, and a thread that blocks for each order.
class Contenders {
 public:
  explicit Contenders(const ContestRequest& request)
      : request_(request),
        board_(bench::ContestBoard::open(request.board, request.records)),
        clients_(request.count) {
    options_.ttl = default_ttl(request.settings);
  }

  void obey() {
    say(contender_word::ready);
    while (const auto order = next_order()) {
      // The last order is obeyed, or is to be stopped.
      for (std::jthread& thread : threads_) thread.request_stop();
      threads_.clear();
      if (*order == contest_order::connect) {
        connect();
      } else if (*order == contest_order::reentry) {
        let_all([this](std::size_t index, const std::stop_token& end) { reenter(index, end); });
      } else if (*order != contest_order::stop) {
        const bool counts = *order == contest_order::lap;
        let_all([this, counts](std::size_t index, const std::stop_token& end) {
          say(contest_word::asking);
          take_turn(index, counts, end);
        });
      }
    }
  }

 private:
  void connect() {
    std::vector<std::jthread> connecting;
    for (std::size_t i = 0; i < request_.count; ++i) {
      connecting.emplace_back([this, i] { connect(request_.first + i, clients_[i]); });
    }
    // The parent ends a process that takes too long.
    for (std::jthread& thread : connecting) thread.join();
    if (!problem_.empty()) throw std::runtime_error(problem_);
    say(contest_word::connected);
  }

  /// A lock that nobody else wants is granted as soon as a quorum of the nodes answers.
  void connect(std::size_t index, std::optional<Client>& client) {
    const auto fail = [this](const Error& error) {
      const std::lock_guard lock(mutex_);
      problem_ = error.message;
    };
    auto created = Client::create(client_options(request_.settings, request_.settings.nodes));
    if (!created) return fail(created.error());
    client.emplace(*std::move(created));
    auto lease = client->acquire(fmt::format("{}/{}", request_.resource, index), options_);
    if (!lease) return fail(lease.error());
    static_cast<void>(lease->release());
  }

  void let_all(const std::function<void(std::size_t index, const std::stop_token& end)>& work) {
    for (std::size_t index = request_.first; index < request_.first + request_.count; ++index) {
      threads_.emplace_back([this, index, work](const std::stop_token& end) {
        work(index, end);
        if (board_.head().finished.fetch_add(1) + 1 == request_.clients) say(contest_word::done);
      });
    }
  }

  void reenter(std::size_t index, const std::stop_token& end) {
    while (!end.stop_requested() && board_.head().granted < request_.grants) {
      take_turn(index, true, end);
    }
  }

  void take_turn(std::size_t index, bool counts, const std::stop_token& end) {
    bench::ContestRecord record;
    record.contender = static_cast<std::uint32_t>(index);
    record.began = contest_now();
    auto lease = clients_[index - request_.first]->acquire(request_.resource, options_, end);
    if (lease) {
      record.granted = contest_now();
      ++board_.head().granted;
      std::this_thread::sleep_for(request_.hold);
      record.released = contest_now();
      // A key whose release a node did not confirm expires; the others wait for that, and the
      // figures show it.
      record.unacknowledged = lease->release() ? 0 : 1;
    } else if (!end.stop_requested()) {
      ++board_.head().failures;
      return;
    }
    if (counts) board_.add(record);
  }

  const ContestRequest& request_;
  bench::ContestBoard board_;
  std::vector<std::optional<Client>> clients_;
  AcquireOptions options_{};
  std::mutex mutex_{};
  std::string problem_{};
  std::vector<std::jthread> threads_{};  // last: they use the others
};

}  // namespace

std::string to_line(const ContestRequest& request) {
  nlohmann::ordered_json json;
  json["settings"] = settings_to_pass(request.settings);
  json["resource"] = request.resource;
  json["board"] = request.board;
  json["records"] = request.records;
  json["clients"] = request.clients;
  json["first"] = request.first;
  json["count"] = request.count;
  json["grants"] = request.grants;
  json["hold"] = request.hold.count();
  return json_line(json);
}

int run_contenders() {
  return run_contender_side([](const nlohmann::json& json) {
    const ContestRequest request = contest_request_of(json);
    Contenders(request).obey();
  });
}

}  // namespace redlock::cli
