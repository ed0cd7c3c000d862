#include "uv/socket.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <utility>

#include "support/assert.hpp"
#include "support/platform.hpp"
#include "uv/handle.hpp"

namespace redlock::uv {
namespace {

constexpr std::size_t read_buffer_size = 65536;
// A backlog larger than this is an exception, whose memory is not kept.
constexpr std::size_t kept_backlog_capacity = 262144;

}  // namespace

/// Everything libuv may still touch after the Socket is gone.
struct Socket::State {
  union {
    uv_handle_t handle;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
  };
  Kind kind;
  ConnectListener* connect_listener = nullptr;  // null once closed
  SocketListener* listener = nullptr;           // null before start_reading() and once closed
  int fd = -1;
  uv_connect_t connect_request{};
  uv_write_t write_request{};
  std::string backlog;  // being written by libuv unless empty
  std::unique_ptr<char[]> read_buffer;

  explicit State(Kind socket_kind) : tcp(), kind(socket_kind) {}
};

Socket::Socket(uv_loop_t* loop, Kind kind) : state_(std::make_unique<State>(kind)) {
  switch (kind) {
    case Kind::tcp:
      REDLOCK_ASSERT(uv_tcp_init(loop, &state_->tcp) == 0);
      // Only sets a flag, which libuv applies to the descriptor that connect() creates.
      REDLOCK_ASSERT(uv_tcp_nodelay(&state_->tcp, 1) == 0);
      break;
    case Kind::unix_socket:
      REDLOCK_ASSERT(uv_pipe_init(loop, &state_->pipe, 0) == 0);
      break;
  }
  state_->handle.data = state_.get();
}

Socket::Socket(Socket&&) noexcept = default;

Socket::~Socket() { close(CloseMode::reset); }

int Socket::connect(const Address& address, ConnectListener& listener) {
  state_->connect_listener = &listener;
  return uv_tcp_connect(&state_->connect_request, &state_->tcp, address.get(), on_connect);
}

int Socket::connect(const std::string& path, ConnectListener& listener) {
  // libuv would cut the path off and connect to another one.
  if (path.size() >= sizeof(sockaddr_un{}.sun_path)) return UV_ENAMETOOLONG;
  if (path.empty() || path.find('\0') != std::string::npos) return UV_EINVAL;
  state_->connect_listener = &listener;
  uv_pipe_connect(&state_->connect_request, &state_->pipe, path.c_str(), on_connect);
  return 0;
}

int Socket::start_reading(SocketListener& listener) {
  state_->listener = &listener;
  state_->read_buffer = std::make_unique_for_overwrite<char[]>(read_buffer_size);
  return uv_read_start(&state_->stream, on_allocate, on_input);
}

std::ptrdiff_t Socket::try_send(std::string_view bytes) noexcept {
  // Does not use uv_try_write(), which may raise SIGPIPE: on a caller's loop, a server that went
  // away must not end the caller's program.
  while (true) {
    const ssize_t sent =
        ::send(state_->fd, bytes.data(), bytes.size(), support::send_without_sigpipe);
    if (sent >= 0) return sent;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) return 0;
    if (errno != EINTR) return -errno;
  }
}

int Socket::send_later(std::string& bytes, std::size_t offset) {
  std::swap(state_->backlog, bytes);
  bytes.clear();
  const uv_buf_t rest = uv_buf_init(state_->backlog.data() + offset,
                                    static_cast<unsigned int>(state_->backlog.size() - offset));
  return uv_write(&state_->write_request, &state_->stream, &rest, 1, on_write);
}

bool Socket::is_sending_later() const noexcept { return state_ && !state_->backlog.empty(); }

std::size_t Socket::unsent() const noexcept {
  return state_ ? uv_stream_get_write_queue_size(&state_->stream) : 0;
}

void Socket::close(CloseMode mode) noexcept {
  if (!state_) return;
  State* state = state_.release();
  state->connect_listener = nullptr;
  state->listener = nullptr;
  if (mode == CloseMode::reset && state->kind == Kind::tcp) {
    // Fails only before a descriptor exists, when there is nothing to discard.
    if (uv_tcp_close_reset(&state->tcp, on_closed) == 0) return;
  }
  uv_close(&state->handle, on_closed);
}

void Socket::on_connect(uv_connect_t* request, int status) noexcept {
  auto* state = static_cast<State*>(request->handle->data);
  if (state->connect_listener == nullptr) return;
  if (status == 0) status = uv_fileno(&state->handle, &state->fd);
  if (status == 0) support::prevent_sigpipe(state->fd);
  if (status == 0 && state->kind == Kind::tcp) support::keep_alive(state->fd);
  state->connect_listener->on_connected(status);
}

void Socket::on_allocate(uv_handle_t* handle, std::size_t /*suggested*/,
                         uv_buf_t* buffer) noexcept {
  *buffer = uv_buf_init(static_cast<State*>(handle->data)->read_buffer.get(), read_buffer_size);
}

void Socket::on_input(uv_stream_t* stream, ssize_t size, const uv_buf_t* buffer) noexcept {
  SocketListener* listener = static_cast<State*>(stream->data)->listener;
  if (listener == nullptr || size == 0) return;
  if (size < 0) {
    listener->on_read_end(static_cast<int>(size));
  } else {
    listener->on_read(std::string_view(buffer->base, static_cast<std::size_t>(size)));
  }
}

void Socket::on_write(uv_write_t* request, int status) noexcept {
  auto* state = static_cast<State*>(request->handle->data);
  if (state->backlog.capacity() > kept_backlog_capacity) {
    state->backlog = std::string();
  } else {
    state->backlog.clear();
  }
  if (state->listener != nullptr) state->listener->on_sent_later(status);
}

void Socket::on_closed(uv_handle_t* handle) noexcept {
  const std::unique_ptr<State> reclaimed(static_cast<State*>(handle->data));
}

}  // namespace redlock::uv
