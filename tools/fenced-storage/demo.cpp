#include "fenced-storage/demo.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/servers/local_nodes.hpp"
#include "common/session/exit_code.hpp"
#include "common/session/output.hpp"
#include "common/system/child_process.hpp"
#include "common/system/signals.hpp"
#include "common/text/duration.hpp"
#include "common/text/text.hpp"
#include "fenced-storage/holder.hpp"
#include "fenced-storage/storage.hpp"
#include "redlock/client.hpp"

namespace redlock::fenced {
namespace {

constexpr std::size_t own_nodes = 3;

class Story {
 public:
  /// One line: when, who, what.
  void tell(std::string_view who, std::string_view what) const {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin_;
    line(fmt::format("{:6.3f} s  {:<8} {}", since.count(), who, what));
  }

  void line(const std::string& text) const {
    if (!cli::print(cli::as_printable(text) + '\n')) {
      throw DemoFailure(cli::ExitCode::failure, "standard output cannot be written");
    }
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

Scene make_scene(const DemoRequest& request, std::vector<std::string> servers) {
  Scene scene;
  scene.storage = parse_storage_url(servers.back());
  servers.pop_back();
  if (request.nodes.empty()) {
    // We started these nodes a moment ago: they have nothing that they could have forgotten.
    scene.lock.guards.restart = false;
    scene.lock.nodes = std::move(servers);
  } else {
    scene.lock.nodes = request.nodes;
  }
  scene.fencing = request.fencing;
  scene.name = fmt::format("fenced-storage-demo/{}", ::getpid());
  return scene;
}

/// B: acquires when A's lease has ended, and writes. The lease is B's until A has written too.
std::pair<Lease, std::uint64_t> acquire_and_write(const Scene& scene, Client& client,
                                                  std::uint64_t older, const Story& story) {
  auto granted = client.try_acquire_for(scene.name, scene.wait, {.fencing = true});
  if (!granted) throw DemoFailure(cli::exit_code_of(granted.error().code), granted.error().message);
  if (!granted->fencing_token()) {
    throw DemoFailure(cli::ExitCode::failure, "the lease has no fencing token");
  }
  const std::uint64_t token = granted->fencing_token()->value();
  story.tell("B", fmt::format("acquires it, A's lease being over: fencing token {}, {}", token,
                              token > older ? "larger than A's" : "NOT larger than A's"));

  Storage storage(scene.storage);
  if (scene.fencing == DemoRequest::Fencing::ignored) {
    storage.write_unfenced(scene.name, scene.newer_value, token);
  } else if (const auto newer = storage.write(scene.name, scene.newer_value, token)) {
    throw DemoFailure(cli::ExitCode::not_holder, "B is " + refusal(token, *newer));
  }
  story.tell("B", fmt::format("writes \"{}\": written", scene.newer_value));
  return {std::move(*granted), token};
}

int verdict(const Story& story, std::string_view late_write, std::string_view final_value,
            const Scene& scene) {
  if (final_value != scene.newer_value) {
    story.line("verdict: LOST UPDATE: the stale write was taken and destroyed the newer value");
    return cli::code(cli::ExitCode::failure);
  }
  if (late_write.find("refused") != 0) {
    story.line("verdict: WRONG: the stale write was not refused");
    return cli::code(cli::ExitCode::failure);
  }
  story.line("verdict: the stale write was refused and the newer value is kept");
  return cli::code(cli::ExitCode::done);
}

int play(const Scene& scene, Holder& holder, const Story& story) {
  const Holder::Holding holding = holder.wait_until_holding();
  story.tell("A", fmt::format("(process {}) acquires the lock for {}: fencing token {}",
                              holder.pid(), cli::format_duration(scene.holder_ttl), holding.token));
  story.tell("A", fmt::format("checks its lease: valid for another {}, so it will write",
                              cli::format_duration(holding.remaining)));
  holder.pause();
  story.tell("A", "is stopped by SIGSTOP, between that check and the write");

  auto client = Client::create(scene.lock);
  if (!client) {
    throw DemoFailure(cli::exit_code_of(client.error().code), client.error().message);
  }
  story.tell("B", "waits for the lock");
  const auto [lease, token] = acquire_and_write(scene, *client, holding.token, story);

  story.tell("A", "goes on by SIGCONT, without knowing that its lease is over");
  const std::string late_write = holder.let_it_write();
  story.tell("A", fmt::format("writes \"{}\": {}", scene.stale_value, late_write));

  const auto record = Storage(scene.storage).read(scene.name);
  if (!record) throw DemoFailure(cli::ExitCode::failure, "the storage has lost the key");
  story.tell("storage", fmt::format("has \"{}\", fencing token {}", record->value, record->token));
  if (token <= holding.token) {
    story.line("verdict: WRONG: the later lease has no larger fencing token");
    return cli::code(cli::ExitCode::failure);
  }
  return verdict(story, late_write, record->value, scene);
}

}  // namespace

int run_demo(const DemoRequest& request) {
  if (cli::find_program("redis-server").problem != 0) {
    throw DemoFailure(cli::ExitCode::unavailable,
                      "demo: redis-server is not installed (not found in PATH)");
  }
  const cli::Signals signals;
  const std::size_t count = request.nodes.empty() ? own_nodes + 1 : 1;
  cli::LocalNodes servers(count, signals);
  const Scene scene = make_scene(request, servers.urls());
  const Story story;
  story.tell("demo",
             fmt::format("lock nodes: {}, {}; a storage that {} fencing tokens",
                         scene.lock.nodes.size(), request.nodes.empty() ? "of its own" : "as given",
                         scene.fencing == DemoRequest::Fencing::checked ? "checks" : "IGNORES"));
  Holder holder(scene);
  // The kernel ends the holder, stopped or not, when this process ends.
  cli::SignalWatcher watcher(signals, [&servers](int signal) {
    servers.end();
    std::_Exit(cli::code_of_signal(signal));
  });
  return play(scene, holder, story);
}

}  // namespace redlock::fenced
