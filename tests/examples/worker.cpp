// One active worker in a fleet: every machine runs this program, one of them works, and another one
// takes over when it dies. worker.service runs it under systemd.
//
//   worker NAME NODE…    NAME is what others see: the host and the process, for instance

#include <pthread.h>
#include <csignal>

#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "redlock/redlock.hpp"

using namespace std::chrono_literals;

namespace {

/// Requests the stop at SIGTERM or SIGINT, which all threads have blocked.
void stop_at_signal(const sigset_t& signals, std::stop_source& stop) {
  int signal = 0;
  sigwait(&signals, &signal);
  stop.request_stop();
}

/// Sleeps, but not past a stop.
void pause_for(std::chrono::milliseconds duration, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait_for(lock, stop, duration, [] { return false; });
}

/// The work, in steps that are short against the TTL: what outlasts the lease is not protected.
void work(const redlock::Leadership& leadership, const std::stop_token& stop) {
  while (leadership.valid() && !stop.stop_requested()) {
    // Here a step of the work. Send `leadership.term()` along with every write, so that the storage
    // refuses a leader that was paused for too long.
    pause_for(50ms, stop);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: worker NAME NODE...\n";
    return 64;
  }
  // Before the client starts its thread, which inherits this.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::stop_source stop;
  std::thread(stop_at_signal, std::cref(signals), std::ref(stop)).detach();

  redlock::ClientOptions options;
  options.name = argv[1];
  options.nodes.assign(argv + 2, argv + argc);
  auto client = redlock::Client::create(options);
  if (!client) {
    std::cerr << client.error().message << '\n';
    return 1;
  }
  redlock::ElectionOptions me;
  me.candidate = argv[1];
  me.ttl = 2s;  // a worker that dies is replaced within this time
  redlock::Election election(*client, "scheduler", me);

  while (!stop.stop_requested()) {
    auto leadership = election.campaign(stop.get_token());
    if (!leadership) {
      if (leadership.error().code == redlock::Errc::cancelled) break;
      std::cerr << leadership.error().message << '\n';
      return 1;  // outages are waited out: this is a mistake in the options
    }
    std::cout << argv[1] << " leads, term " << leadership->term() << std::endl;
    work(*leadership, stop.get_token());
    if (!leadership->valid()) {
      std::cout << argv[1] << " lost the leadership" << std::endl;
    } else if (auto resigned = leadership->resign(); resigned) {
      std::cout << argv[1] << " resigned" << std::endl;
    }
  }
  return 0;
}
