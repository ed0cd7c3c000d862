#include "bench/contest/contender_crew.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

#include "bench/contest/contender_side.hpp"
#include "common/servers/loopback_server.hpp"
#include "common/system/child_process.hpp"
#include "common/system/platform.hpp"
#include "common/text/text.hpp"

namespace redlock::cli {
namespace {

void write_order(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    // The contender has ended; its other pipe says why.
    if (count <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

struct ContenderPipe {
  Descriptor source;
  Descriptor sink;
};

ContenderPipe open_contender_pipe() {
  std::array<int, 2> ends{};
  if (!platform::open_pipe(ends)) {
    throw std::runtime_error(fmt::format("bench: pipe: {}", std::strerror(errno)));
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

}  // namespace

ContenderCrew::ContenderCrew(const char* verb, const std::vector<std::string>& requests,
                             const Signals& signals)
    : signals_(signals) {
  try {
    for (const std::string& request : requests) start(verb, request);
    wait_for(contender_word::ready, members_.size());
  } catch (...) {
    for (const Member& member : members_) kill_and_reap(member.pid);
    throw;
  }
}

ContenderCrew::~ContenderCrew() {
  for (const Member& member : members_) kill_and_reap(member.pid);
}

void ContenderCrew::start(const char* verb, const std::string& request) {
  ContenderPipe orders = open_contender_pipe();
  ContenderPipe words = open_contender_pipe();
  ChildRequest child;
  child.program = platform::own_program();
  child.arguments = {"quorum-lock", verb};
  child.environment = environment_of_helper();
  child.input = orders.source.get();
  child.output = words.sink.get();
  const auto started = ChildProcess::start(child, signals_.for_children());
  if (const int* error = std::get_if<int>(&started)) {
    throw std::runtime_error(
        fmt::format("bench: a contender cannot be started: {}", std::strerror(*error)));
  }
  members_.push_back(
      {std::get<ChildProcess>(started).pid(), std::move(orders.sink), std::move(words.source)});
  write_order(members_.back().orders.get(), request);
}

void ContenderCrew::order(char order) {
  for (const Member& member : members_) write_order(member.orders.get(), {&order, 1});
}

void ContenderCrew::wait_for(char word, std::size_t count) {
  while (!take_heard(word, count)) listen(-1);
}

bool ContenderCrew::take_heard(char word, std::size_t count) {
  if (static_cast<std::size_t>(std::count(heard_.begin(), heard_.end(), word)) < count)
    return false;
  std::erase(heard_, word);
  return true;
}

void ContenderCrew::wait_at_most(std::chrono::milliseconds limit) {
  listen(static_cast<int>(limit.count()));
}

void ContenderCrew::listen(int timeout_ms) {
  std::vector<pollfd> watched{{signals_.fd(), POLLIN, 0}};
  for (const Member& member : members_) watched.push_back({member.words.get(), POLLIN, 0});
  // If the wait is interrupted, the check only comes early.
  if (::poll(watched.data(), static_cast<nfds_t>(watched.size()), timeout_ms) <= 0) return;
  while (const auto signal = signals_.take()) {
    if (*signal == SIGTSTP) static_cast<void>(::kill(::getpid(), SIGSTOP));
    if (ends_process(*signal)) throw ContendersInterrupted{*signal};
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (watched[i + 1].revents != 0) hear(members_[i]);
  }
}

void ContenderCrew::hear(Member& member) {
  std::array<char, 512> buffer{};
  const ssize_t count = ::read(member.words.get(), buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return;
  const std::string_view words(buffer.data(),
                               static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (words.empty()) report(member, "it ended");
  const std::size_t failure = words.find(contender_word::failed);
  if (failure != std::string_view::npos) report(member, std::string(words.substr(failure + 1)));
  heard_ += words;
}

void ContenderCrew::report(const Member& member, std::string why) {
  std::array<char, 512> buffer{};
  for (ssize_t count = 0; (count = ::read(member.words.get(), buffer.data(), buffer.size())) > 0;) {
    why.append(buffer.data(), static_cast<std::size_t>(count));
  }
  throw std::runtime_error(fmt::format("bench: a contender failed: {}", as_printable(why)));
}

void ContenderCrew::finish() {
  for (Member& member : members_) member.orders.reset();
  for (const Member& member : members_) {
    int status = 0;
    while (::waitpid(member.pid, &status, 0) < 0 && errno == EINTR) {
    }
  }
  members_.clear();
}

}  // namespace redlock::cli
