// A server's answers to a check and to the opening of a deployment, from connecting to the
// last step: the library's own survey, on a stream without a socket. And its answers to a list of
// its locks.
//
// First line, in letters: P D a password and a database; L the list, not the survey; H: every
// question but those by a script is answered well. Then what the server sends: with H a section,
// which ends with a line "--", for each script; without it everything as it comes. At its end the
// server hangs up.

#include "runtime/survey.hpp"

#include <uv.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "api/deployment/findings.hpp"
#include "api/deployment/lock_verdicts.hpp"
#include "core/vocabulary/durations.hpp"
#include "fuzz/fake_stream.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/handshake.hpp"
#include "redis/values/visible.hpp"
#include "runtime/listing.hpp"

namespace redlock::fuzz {
namespace {

constexpr std::string_view password = "Pa55w0rd";
constexpr std::chrono::milliseconds longest_lock{30'000};

/// Answers once a turn of the loop that the survey runs.
class Server {
 public:
  Server(Input& input, std::string_view letters)
      : input_(input), healthy_(letters.find('H') != std::string_view::npos) {}

  void start(std::shared_ptr<Peer> peer) {
    peer_ = std::move(peer);
    turns_.data = this;
    REDLOCK_ASSERT(uv_idle_init(peer_->loop, &turns_) == 0);
    REDLOCK_ASSERT(uv_idle_start(&turns_, on_turn) == 0);
  }
  /// The loop ends by itself then.
  void stop() { uv_close(reinterpret_cast<uv_handle_t*>(&turns_), nullptr); }

 private:
  static void on_turn(uv_idle_t* turns) noexcept { static_cast<Server*>(turns->data)->turn(); }

  void turn() {
    if (!peer_->connected && !handshake_begun_) {
      handshake_begun_ = true;
      return accept(peer_);
    }
    if (healthy_) return answer_well();
    if (input_.empty()) return hang_up(peer_);
    send(peer_, input_.until("\n--\n"));
  }

  void answer_well() {
    constexpr std::string_view info =
        "redis_version:7.0.15\r\nrun_id:0123456789\r\nrole:master\r\nredis_mode:standalone\r\n"
        "maxmemory_policy:noeviction\r\naof_enabled:0\r\n";
    std::string answers;
    for (const test::Command& command : commands_in(std::exchange(peer_->received, {}))) {
      const std::string& word = command.at(0);
      if (word == "EVAL" && input_.empty()) return hang_up(peer_);
      if (word == "EVAL") {
        answers += input_.until("\n--\n");
      } else if (word == "GET") {
        answers += test::resp::nil();
      } else if (word == "PTTL") {
        answers += test::resp::integer(-2);
      } else if (word == "TIME") {
        answers += test::resp::array({test::resp::bulk("1700000000"), test::resp::bulk("0")});
      } else {
        answers += handshake_answer(command, info);
      }
    }
    if (!answers.empty()) return send(peer_, answers);
    // A part of an answer was sent, and nothing was asked since.
    if (input_.empty()) return hang_up(peer_);
    send(peer_, input_.until("\n--\n"));
  }

  Input& input_;
  bool healthy_;
  bool handshake_begun_ = false;
  std::shared_ptr<Peer> peer_;
  uv_idle_t turns_{};
};

void check_shown(const std::string& text) {
  REDLOCK_ASSERT(harmless(text) && text.size() < 2 * redis::message_bytes);
  // A server that refuses the password may repeat it.
  if (text.starts_with("AUTH")) REDLOCK_ASSERT(text.find(password) == std::string::npos);
}

void survey(const runtime::Configuration& configuration, Server& server) {
  runtime::Survey survey(configuration);
  server.start(newest_peer());
  const std::vector<runtime::SurveyedNode> nodes = survey.check();
  ClientOptions options;
  options.nodes = configuration.settings.nodes;
  for (const admin::NodeCheck& node : api::judge(nodes, options).nodes) check_shown(node.problem);
  for (const runtime::Search& search : survey.find_locks(longest_lock)) {
    check_shown(search.problem);
    if (!search.lock) continue;
    check_shown(search.lock->key);
    check_shown(core::format_duration(search.lock->left));
    REDLOCK_ASSERT(search.lock->left.count() >= 0 && search.lock->left <= limits::longest_max_ttl);
  }
  core::WriteMarker write;
  write.marker.incarnation = write.marker.run_id = write.marker.replid = "1";
  const runtime::Marked marked = survey.mark(0, write);
  check_shown(marked.problem);
  check_shown(marked.refused);
  server.stop();
}

void list(const runtime::Configuration& configuration, Server& server) {
  runtime::Listing listing(configuration, {"app:*", 1000, longest_lock});
  server.start(newest_peer());
  const std::vector<runtime::NodeLocks> nodes = listing.run();
  check_shown(nodes.front().problem);
  const admin::LockList list = api::judge_locks(nodes, 1);
  if (!nodes.front().problem.empty()) REDLOCK_ASSERT(list.locks.empty() && !list.complete);
  for (const admin::ListedLock& lock : list.locks) {
    REDLOCK_ASSERT(lock.resource.size() <= limits::resource_bytes);
    REDLOCK_ASSERT(lock.remaining.count() >= 0 && lock.nodes <= 1);
    REDLOCK_ASSERT(lock.nodes > 0 || lock.waiters > 0);
  }
  server.stop();
}

}  // namespace
}  // namespace redlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace redlock;
  fuzz::Input input(data, size);
  const std::string_view letters = input.line();
  runtime::Configuration configuration;
  configuration.settings.nodes = {"redis://node"};
  redis::ConnectionTarget& target = configuration.targets.emplace_back();
  if (letters.find('P') != std::string_view::npos) target.password = fuzz::password;
  if (letters.find('D') != std::string_view::npos) target.db = 3;
  fuzz::Server server(input, letters);
  if (letters.find('L') != std::string_view::npos) {
    fuzz::list(configuration, server);
  } else {
    fuzz::survey(configuration, server);
  }
  return 0;
}
