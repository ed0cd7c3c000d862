#include "bench/floor/floor_raw.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/floor/floor_lanes.hpp"
#include "bench/floor/floor_link.hpp"

namespace redlock::bench {
namespace {

using Clock = FloorLanes::Clock;

constexpr std::size_t input_size = std::size_t{64} * 1024;
constexpr int watch_interval_ms = static_cast<int>(floor_watch_interval.count());

struct Node {
  FileDescriptor fd;
  std::vector<char> input = std::vector<char>(input_size);
  std::size_t filled = 0;
  std::string backlog;
};

class RawFloor {
 public:
  RawFloor(const CycleSettings& settings, FloorLinks links)
      : lanes_(settings, links.script_sha), nodes_(links.sockets.size()) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i].fd = std::move(links.sockets[i]);
  }

  CycleOutcome run();

 private:
  bool prepare();
  bool turn();
  void drain_stragglers();
  void flush();
  [[nodiscard]] bool send_batch(std::size_t index, std::string_view batch);
  void send_backlog(std::size_t index);
  void receive(std::size_t index);
  void parse(std::size_t index);
  bool watch(std::size_t index, int operation, std::uint32_t events);
  void lose(std::size_t index);
  bool anything_owed() const;

  FloorLanes lanes_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> given_up_;
  FileDescriptor epoll_;
};

CycleOutcome RawFloor::run() {
  if (!prepare()) return "epoll: " + std::string(std::strerror(errno));
  lanes_.start();
  std::uint64_t progress = 0;
  Clock::time_point progress_at = Clock::now();
  while (!lanes_.finished()) {
    if (lanes_.majority_lost()) return std::string{"the majority of the nodes was lost"};
    if (turn()) continue;
    if (lanes_.progress() != progress) {
      progress = lanes_.progress();
      progress_at = Clock::now();
    } else if (Clock::now() - progress_at > floor_stall_limit) {
      return std::string{"no majority answers any more"};
    }
  }
  drain_stragglers();
  return lanes_.take_result();
}

bool RawFloor::prepare() {
  epoll_ = FileDescriptor{epoll_create1(EPOLL_CLOEXEC)};
  if (!epoll_.valid()) return false;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const int fd = nodes_[i].fd.get();
    if (fd < 0) {
      lanes_.on_node_lost(i);
    } else if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0 || !watch(i, EPOLL_CTL_ADD, EPOLLIN)) {
      return false;
    }
  }
  return true;
}

/// Returns whether any node sent bytes.
bool RawFloor::turn() {
  flush();
  std::array<epoll_event, 64> events;
  const int ready =
      epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), watch_interval_ms);
  for (int i = 0; i < ready; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const std::size_t index = event.data.u64;
    if ((event.events & EPOLLOUT) != 0 && nodes_[index].fd.valid()) send_backlog(index);
    if ((event.events & ~EPOLLOUT) != 0 && nodes_[index].fd.valid()) receive(index);
  }
  return ready > 0;
}

/// Closing with answers unread would reset the connection, and a node might never see its release.
void RawFloor::drain_stragglers() {
  const Clock::time_point until = Clock::now() + floor_drain_limit;
  while (anything_owed() && Clock::now() < until) static_cast<void>(turn());
}

bool RawFloor::anything_owed() const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].fd.valid() && lanes_.owes_answers(i)) return true;
  }
  return false;
}

void RawFloor::flush() {
  const std::string_view batch = lanes_.batch();
  if (batch.empty()) return;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].fd.valid() && !send_batch(i, batch)) given_up_.push_back(i);
  }
  lanes_.clear_batch();
  // The loss of a node decides steps, whose successors belong into the next batch.
  for (const std::size_t index : given_up_) lose(index);
  given_up_.clear();
}

/// Returns whether to keep the node.
bool RawFloor::send_batch(std::size_t index, std::string_view batch) {
  Node& node = nodes_[index];
  std::size_t sent = 0;
  if (node.backlog.empty()) {
    const ssize_t n = send(node.fd.get(), batch.data(), batch.size(), MSG_NOSIGNAL);
    if (n == static_cast<ssize_t>(batch.size())) return !lanes_.too_far_behind(index);
    if (n < 0 && errno != EAGAIN && errno != EINTR) return false;
    sent = n < 0 ? 0 : static_cast<std::size_t>(n);
    if (!watch(index, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT)) return false;
  }
  node.backlog.append(batch.substr(sent));
  return node.backlog.size() <= floor_backlog_limit && !lanes_.too_far_behind(index);
}

void RawFloor::send_backlog(std::size_t index) {
  Node& node = nodes_[index];
  const ssize_t n = send(node.fd.get(), node.backlog.data(), node.backlog.size(), MSG_NOSIGNAL);
  if (n < 0) {
    if (errno != EAGAIN && errno != EINTR) lose(index);
    return;
  }
  node.backlog.erase(0, static_cast<std::size_t>(n));
  if (node.backlog.empty() && !watch(index, EPOLL_CTL_MOD, EPOLLIN)) lose(index);
}

void RawFloor::receive(std::size_t index) {
  Node& node = nodes_[index];
  const ssize_t n =
      recv(node.fd.get(), node.input.data() + node.filled, node.input.size() - node.filled, 0);
  if (n <= 0) {
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) lose(index);
    return;
  }
  node.filled += static_cast<std::size_t>(n);
  parse(index);
}

/// Every reply is one line: +OK, $-1, :0, :1 or -ERR …
void RawFloor::parse(std::size_t index) {
  Node& node = nodes_[index];
  const char* at = node.input.data();
  const char* const end = at + node.filled;
  while (at != end) {
    const char kind = *at;
    const auto left = static_cast<std::size_t>(end - at);
    const auto* newline = static_cast<const char*>(std::memchr(at, '\n', left));
    if (newline == nullptr) break;
    at = newline + 1;
    lanes_.on_answer(
        index, kind == '+' || kind == ':' ? FloorLanes::Outcome::good : FloorLanes::Outcome::bad);
  }
  node.filled = static_cast<std::size_t>(end - at);
  if (node.filled == node.input.size()) return lose(index);
  if (node.filled != 0) std::memmove(node.input.data(), at, node.filled);
}

bool RawFloor::watch(std::size_t index, int operation, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = index;
  return epoll_ctl(epoll_.get(), operation, nodes_[index].fd.get(), &event) == 0;
}

void RawFloor::lose(std::size_t index) {
  nodes_[index].fd = FileDescriptor{};
  nodes_[index].backlog.clear();
  lanes_.on_node_lost(index);
}

}  // namespace

CycleOutcome run_floor_raw(const CycleSettings& settings) {
  auto links = open_floor_links(settings);
  if (auto* wrong = std::get_if<std::string>(&links)) return std::move(*wrong);
  return RawFloor(settings, std::move(std::get<FloorLinks>(links))).run();
}

}  // namespace redlock::bench
