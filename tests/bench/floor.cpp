#include "floor.hpp"

#include <hiredis/hiredis.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "floor_lanes.hpp"
#include "floor_links.hpp"

namespace redlock::bench {
namespace {

using Clock = FloorLanes::Clock;

struct FreeReader {
  void operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }
};

/// libuv writes with `write`, which raises SIGPIPE on a connection that the node has reset.
class IgnoreSigpipe {
 public:
  IgnoreSigpipe() noexcept : previous_(std::signal(SIGPIPE, SIG_IGN)) {}
  IgnoreSigpipe(const IgnoreSigpipe&) = delete;
  IgnoreSigpipe& operator=(const IgnoreSigpipe&) = delete;
  ~IgnoreSigpipe() {
    if (previous_ != SIG_ERR) static_cast<void>(std::signal(SIGPIPE, previous_));
  }

 private:
  void (*previous_)(int);
};

class UvFloor;

struct Node {
  uv_any_handle handle{};
  UvFloor* floor = nullptr;
  std::size_t index = 0;
  bool open = false;
  std::unique_ptr<redisReader, FreeReader> reader{redisReaderCreate()};
  /// The bytes that the kernel did not take: libuv owns `written` until its write ends, and later
  /// bytes gather in `backlog`.
  uv_write_t write{};
  bool writing = false;
  std::string written;
  std::string backlog;

  uv_stream_t* stream() noexcept { return &handle.stream; }
};

class UvFloor {
 public:
  UvFloor(const CycleSettings& settings, std::string_view script_sha, std::size_t nodes)
      : lanes_(settings, script_sha), nodes_(nodes) {}
  UvFloor(const UvFloor&) = delete;
  UvFloor& operator=(const UvFloor&) = delete;
  ~UvFloor();

  /// Zero or the libuv error.
  int prepare(const CycleSettings& settings, const std::vector<cli::Descriptor>& sockets);
  CycleOutcome run();

 private:
  static void on_alloc(uv_handle_t* handle, std::size_t suggested, uv_buf_t* buffer) noexcept;
  static void on_read(uv_stream_t* stream, ssize_t size, const uv_buf_t* buffer) noexcept;
  static void on_write(uv_write_t* request, int status) noexcept;
  static void on_prepare(uv_prepare_t* handle) noexcept;
  static void on_watch(uv_timer_t* timer) noexcept;

  int open_node(Node& node, const Endpoint& endpoint, const cli::Descriptor& socket);
  void flush();
  [[nodiscard]] bool send_batch(Node& node, std::string_view batch);
  [[nodiscard]] bool send_backlog(Node& node);
  void receive(Node& node, const char* data, std::size_t size);
  void lose(Node& node);
  void watch();
  void stop_if_done();
  bool anything_owed() const;

  FloorLanes lanes_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> given_up_;
  uv_loop_t loop_{};
  bool loop_ready_ = false;
  uv_prepare_t prepare_{};
  uv_timer_t timer_{};
  std::array<char, std::size_t{64} * 1024> input_{};
  std::uint64_t progress_ = 0;
  Clock::time_point progress_at_;
  Clock::time_point drain_until_;
  std::string stuck_;
};

UvFloor::~UvFloor() {
  if (!loop_ready_) return;
  uv_walk(
      &loop_,
      [](uv_handle_t* handle, void*) noexcept {
        if (uv_is_closing(handle) == 0) uv_close(handle, nullptr);
      },
      nullptr);
  // All handles are closing, so this returns after their close callbacks. Nothing keeps the loop
  // busy then.
  static_cast<void>(uv_run(&loop_, UV_RUN_DEFAULT));
  static_cast<void>(uv_loop_close(&loop_));
}

int UvFloor::prepare(const CycleSettings& settings, const std::vector<cli::Descriptor>& sockets) {
  if (const int rc = uv_loop_init(&loop_); rc != 0) return rc;
  loop_ready_ = true;
  if (const int rc = uv_prepare_init(&loop_, &prepare_); rc != 0) return rc;
  if (const int rc = uv_timer_init(&loop_, &timer_); rc != 0) return rc;
  prepare_.data = this;
  timer_.data = this;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].floor = this;
    nodes_[i].index = i;
    if (nodes_[i].reader == nullptr) return UV_ENOMEM;
    if (!sockets[i].valid()) {
      lanes_.on_node_lost(i);
      continue;
    }
    const int rc = open_node(nodes_[i], settings.nodes[i], sockets[i]);
    if (rc != 0) return rc;
  }
  if (const int rc = uv_prepare_start(&prepare_, on_prepare); rc != 0) return rc;
  const auto interval = static_cast<std::uint64_t>(floor_watch_interval.count());
  return uv_timer_start(&timer_, on_watch, interval, interval);
}

int UvFloor::open_node(Node& node, const Endpoint& endpoint, const cli::Descriptor& socket) {
  int rc = 0;
  // The handle owns a descriptor of its own.
  const int fd = ::dup(socket.get());
  if (endpoint.unix_path.empty()) {
    rc = uv_tcp_init(&loop_, &node.handle.tcp);
    if (rc == 0) rc = uv_tcp_open(&node.handle.tcp, fd);
  } else {
    rc = uv_pipe_init(&loop_, &node.handle.pipe, 0);
    if (rc == 0) rc = uv_pipe_open(&node.handle.pipe, fd);
  }
  if (rc != 0) return rc;
  node.open = true;
  node.handle.handle.data = &node;
  node.write.data = &node;
  return uv_read_start(node.stream(), on_alloc, on_read);
}

CycleOutcome UvFloor::run() {
  lanes_.start();
  progress_at_ = Clock::now();
  static_cast<void>(uv_run(&loop_, UV_RUN_DEFAULT));
  if (!stuck_.empty()) return stuck_;
  return lanes_.take_result();
}

void UvFloor::on_alloc(uv_handle_t* handle, std::size_t, uv_buf_t* buffer) noexcept {
  auto& input = static_cast<Node*>(handle->data)->floor->input_;
  *buffer = uv_buf_init(input.data(), static_cast<unsigned>(input.size()));
}

void UvFloor::on_read(uv_stream_t* stream, ssize_t size, const uv_buf_t* buffer) noexcept {
  Node& node = *static_cast<Node*>(stream->data);
  if (size > 0) {
    node.floor->receive(node, buffer->base, static_cast<std::size_t>(size));
  } else if (size < 0) {
    node.floor->lose(node);
  }
}

void UvFloor::on_write(uv_write_t* request, int status) noexcept {
  Node& node = *static_cast<Node*>(request->data);
  node.writing = false;
  // Cancelled means that the stream is being closed, by `lose` or at the very end.
  if (status == UV_ECANCELED) return;
  if (status != 0 || !node.floor->send_backlog(node)) node.floor->lose(node);
}

void UvFloor::on_prepare(uv_prepare_t* handle) noexcept {
  auto& floor = *static_cast<UvFloor*>(handle->data);
  floor.flush();
  floor.stop_if_done();
}

void UvFloor::on_watch(uv_timer_t* timer) noexcept { static_cast<UvFloor*>(timer->data)->watch(); }

void UvFloor::flush() {
  const std::string_view batch = lanes_.batch();
  if (batch.empty()) return;
  for (Node& node : nodes_) {
    if (node.open && !send_batch(node, batch)) given_up_.push_back(node.index);
  }
  lanes_.clear_batch();
  // The loss of a node decides steps, whose successors belong into the next batch.
  for (const std::size_t index : given_up_) lose(nodes_[index]);
  given_up_.clear();
}

/// Returns whether to keep the node.
bool UvFloor::send_batch(Node& node, std::string_view batch) {
  std::size_t sent = 0;
  if (!node.writing) {
    // libuv's buffer type knows no const; nothing is written through it.
    const uv_buf_t buffer =
        uv_buf_init(const_cast<char*>(batch.data()), static_cast<unsigned>(batch.size()));
    const int n = uv_try_write(node.stream(), &buffer, 1);
    if (n == static_cast<int>(batch.size())) return !lanes_.too_far_behind(node.index);
    if (n < 0 && n != UV_EAGAIN) return false;
    sent = n < 0 ? 0 : static_cast<std::size_t>(n);
  }
  node.backlog.append(batch.substr(sent));
  if (node.backlog.size() > floor_backlog_limit || lanes_.too_far_behind(node.index)) return false;
  return node.writing || send_backlog(node);
}

bool UvFloor::send_backlog(Node& node) {
  if (node.backlog.empty()) return true;
  node.written.swap(node.backlog);
  node.backlog.clear();
  const uv_buf_t buffer =
      uv_buf_init(node.written.data(), static_cast<unsigned>(node.written.size()));
  node.writing = uv_write(&node.write, node.stream(), &buffer, 1, on_write) == 0;
  return node.writing;
}

void UvFloor::receive(Node& node, const char* data, std::size_t size) {
  if (redisReaderFeed(node.reader.get(), data, size) != REDIS_OK) return lose(node);
  while (true) {
    void* parsed = nullptr;
    if (redisReaderGetReply(node.reader.get(), &parsed) != REDIS_OK) return lose(node);
    if (parsed == nullptr) return;
    const int type = static_cast<redisReply*>(parsed)->type;
    freeReplyObject(parsed);
    lanes_.on_answer(node.index, type == REDIS_REPLY_STATUS || type == REDIS_REPLY_INTEGER
                                     ? FloorLanes::Outcome::good
                                     : FloorLanes::Outcome::bad);
  }
}

void UvFloor::lose(Node& node) {
  if (!node.open) return;
  node.open = false;
  uv_close(&node.handle.handle, nullptr);
  lanes_.on_node_lost(node.index);
}

void UvFloor::watch() {
  if (lanes_.progress() != progress_) {
    progress_ = lanes_.progress();
    progress_at_ = Clock::now();
  } else if (!lanes_.finished() && Clock::now() - progress_at_ > floor_stall_limit) {
    stuck_ = "no majority answers any more";
    uv_stop(&loop_);
  }
}

/// Answers still owed are awaited for a while: closing with answers unread would reset the
/// connection, and a node might never see its release.
void UvFloor::stop_if_done() {
  if (lanes_.majority_lost()) {
    stuck_ = "the majority of the nodes was lost";
    uv_stop(&loop_);
  } else if (lanes_.finished()) {
    const Clock::time_point now = Clock::now();
    if (drain_until_ == Clock::time_point{}) drain_until_ = now + floor_drain_limit;
    if (!anything_owed() || now >= drain_until_) uv_stop(&loop_);
  }
}

bool UvFloor::anything_owed() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [this](const Node& node) {
    return node.open && lanes_.owes_answers(node.index);
  });
}

}  // namespace

CycleOutcome run_floor(const CycleSettings& settings) {
  auto links = open_floor_links(settings);
  if (auto* wrong = std::get_if<std::string>(&links)) return std::move(*wrong);
  auto& ready = std::get<FloorLinks>(links);
  const IgnoreSigpipe ignore_sigpipe;
  UvFloor floor(settings, ready.script_sha, ready.sockets.size());
  if (const int rc = floor.prepare(settings, ready.sockets); rc != 0) {
    return "libuv: " + std::string(uv_strerror(rc));
  }
  return floor.run();
}

}  // namespace redlock::bench
