#include "uv/stream.hpp"

#include <optional>
#include <utility>

#include "support/assert.hpp"
#include "uv/address.hpp"
#include "uv/connector.hpp"
#include "uv/handle.hpp"
#include "uv/resolver.hpp"
#include "uv/tls_session.hpp"

namespace redlock::uv {
namespace {

Failure connection_failure(int status) {
  switch (status) {
    case UV_EOF:
      return {FailureKind::closed_by_peer, "connection closed by the server"};
    case UV_ECONNRESET:
    case UV_EPIPE:
      return {FailureKind::closed_by_peer, "connection reset by the server"};
    default:
      return {FailureKind::io, uv_strerror(status)};
  }
}

}  // namespace

/// Shared with the callback that is running, so that the listener may destroy the Stream there.
class Stream::Connection final : public std::enable_shared_from_this<Connection>,
                                 private ResolverListener,
                                 private ConnectorListener,
                                 private SocketListener {
 public:
  Connection(uv_loop_t* loop, StreamListener& listener) : loop_(loop), listener_(&listener) {}
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void open(const Endpoint& endpoint);
  void flush();
  void close(CloseMode mode);
  void server_works() noexcept;

  [[nodiscard]] std::string& outbox() noexcept { return outbox_; }
  [[nodiscard]] std::size_t unsent() const noexcept;
  [[nodiscard]] bool shaking_hands() const noexcept { return phase_ == Phase::shaking_hands; }
  [[nodiscard]] std::string peer() const { return address_ ? text_of(*address_) : std::string(); }

 private:
  enum class Phase { fresh, resolving, connecting, shaking_hands, open, failed, closed };

  void on_answer(const ResolvedHost& found) noexcept override;
  void on_trying(const Address& address) noexcept override;
  void on_connected(Socket socket, const Address* address) noexcept override;
  void on_unconnected(int status) noexcept override;
  void on_read(std::string_view bytes) noexcept override;
  void on_read_end(int status) noexcept override;
  void on_sent_later(int status) noexcept override;

  void connect_unix();
  void connect(Addresses addresses);
  [[nodiscard]] Connector& make_connector();
  void shake_hands();
  void read_plaintext();
  void send_plain();
  void send_ciphertext();
  void on_send_error(int status);
  void fail(FailureKind kind, std::string message);
  void fail(Failure failure);
  static void on_report(uv_timer_t* timer) noexcept;

  uv_loop_t* loop_;
  StreamListener* listener_;
  Phase phase_ = Phase::fresh;
  Endpoint endpoint_;
  std::optional<Resolver> own_resolver_;
  Resolver* resolver_ = nullptr;        // null: there is nothing to resolve
  std::optional<Connector> connector_;  // none once connected
  std::optional<Address> address_;      // the address that accepted
  std::optional<Socket> socket_;
  std::unique_ptr<TlsSession> tls_;
  std::string outbox_;
  std::string ciphertext_;
  bool flush_wanted_ = false;
  bool heard_ = false;  // the server answered under TLS, so it is content with our certificate
  Failure failure_{};
  Handle<uv_timer_t> report_;
};

void Stream::Connection::open(const Endpoint& endpoint) {
  REDLOCK_ASSERT(phase_ == Phase::fresh);
  endpoint_ = endpoint;
  if (!endpoint_.refused.empty()) return fail(FailureKind::connect, endpoint_.refused);
  switch (endpoint_.kind) {
    case Endpoint::Kind::unix_socket:
      connect_unix();
      return;
    case Endpoint::Kind::tcp:
      break;
  }
  if (const auto literal = parse_literal(endpoint_.host, endpoint_.port)) {
    connect({*literal});
    return;
  }
  phase_ = Phase::resolving;
  if (endpoint_.host.empty()) return on_answer({"it is empty", {}});
  resolver_ = endpoint_.resolver != nullptr ? endpoint_.resolver : &own_resolver_.emplace(loop_);
  resolver_->resolve(endpoint_.host, endpoint_.port, *this);
}

void Stream::Connection::connect_unix() {
  if (endpoint_.tls) {
    fail(FailureKind::tls, "TLS over a Unix socket has no host name to verify");
    return;
  }
  make_connector().connect(endpoint_.path);
}

void Stream::Connection::on_answer(const ResolvedHost& found) noexcept {
  if (found.failed()) {
    fail(FailureKind::resolve,
         "cannot resolve host name '" + endpoint_.host + "': " + found.problem);
    return;
  }
  connect(resolver_->in_order(found.addresses));
}

void Stream::Connection::connect(Addresses addresses) {
  make_connector().connect(std::move(addresses), endpoint_.connect_limit);
}

Connector& Stream::Connection::make_connector() {
  phase_ = Phase::connecting;
  return connector_.emplace(loop_, static_cast<ConnectorListener&>(*this));
}

void Stream::Connection::on_trying(const Address& address) noexcept {
  if (resolver_ != nullptr) resolver_->trying(address);
}

void Stream::Connection::on_unconnected(int status) noexcept {
  fail(FailureKind::connect, uv_strerror(status));
}

void Stream::Connection::on_connected(Socket socket, const Address* address) noexcept {
  connector_.reset();
  socket_.emplace(std::move(socket));
  if (address != nullptr) {
    address_ = *address;
    on_trying(*address);  // the last address that was tried may be another one
  }
  const int status = socket_->start_reading(*this);
  if (status != 0) {
    fail(FailureKind::io, uv_strerror(status));
    return;
  }
  if (!endpoint_.tls) {
    phase_ = Phase::open;
    listener_->on_open();
    return;
  }
  const std::string& expected =
      endpoint_.server_name.empty() ? endpoint_.host : endpoint_.server_name;
  auto session = TlsSession::create(*endpoint_.tls, expected);
  if (auto* error = std::get_if<std::string>(&session)) {
    fail(FailureKind::tls, std::move(*error));
    return;
  }
  tls_ = std::move(*std::get_if<std::unique_ptr<TlsSession>>(&session));
  phase_ = Phase::shaking_hands;
  const auto self = shared_from_this();
  shake_hands();
}

void Stream::Connection::on_read(std::string_view bytes) noexcept {
  if (!tls_) {
    listener_->on_bytes(bytes);
    return;
  }
  const auto self = shared_from_this();
  if (!tls_->receive(bytes)) {
    fail(FailureKind::tls, "TLS failed: out of memory");
    return;
  }
  if (phase_ == Phase::shaking_hands) shake_hands();
  if (phase_ == Phase::open) read_plaintext();
}

void Stream::Connection::shake_hands() {
  const TlsSession::Status status = tls_->shake_hands();
  // Sent even after a failure: the alert gives the reason to the server's log.
  send_ciphertext();
  if (phase_ != Phase::shaking_hands) return;
  switch (status) {
    case TlsSession::Status::needs_input:
      return;
    case TlsSession::Status::ok:
      phase_ = Phase::open;
      listener_->on_open();
      return;
    case TlsSession::Status::closed:
      on_read_end(UV_EOF);
      return;
    case TlsSession::Status::failed:
      // A reset would overtake the alert.
      socket_->close(CloseMode::graceful);
      fail(FailureKind::tls, tls_->error());
      return;
  }
}

void Stream::Connection::read_plaintext() {
  while (phase_ == Phase::open) {
    const auto [status, bytes] = tls_->read();
    // TLS itself sometimes answers (key updates).
    send_ciphertext();
    if (phase_ != Phase::open) return;
    switch (status) {
      case TlsSession::Status::ok:
        heard_ = true;
        listener_->on_bytes(bytes);
        break;
      case TlsSession::Status::needs_input:
        return;
      case TlsSession::Status::closed:
        on_read_end(UV_EOF);
        return;
      case TlsSession::Status::failed:
        fail(FailureKind::tls, tls_->error());
        return;
    }
  }
}

void Stream::Connection::on_read_end(int status) noexcept {
  Failure failure = connection_failure(status);
  if (tls_ && !heard_ && tls_->owes_certificate()) {
    failure.kind = FailureKind::tls;
    failure.message += " (it asked for a client certificate and none is configured)";
  } else if (tls_ && !heard_ && !tls_->shown_certificate().empty()) {
    failure.kind = FailureKind::tls;
    failure.message +=
        " (it may have refused the client certificate '" + tls_->shown_certificate() + "')";
  } else if (phase_ == Phase::shaking_hands) {
    failure.kind = FailureKind::tls;
    failure.message = "TLS handshake failed: " + failure.message;
  }
  fail(std::move(failure));
}

void Stream::Connection::flush() {
  if (phase_ != Phase::open || outbox_.empty()) return;
  if (socket_->is_sending_later()) {
    flush_wanted_ = true;
    return;
  }
  if (!tls_) {
    send_plain();
    return;
  }
  if (tls_->write(outbox_) != TlsSession::Status::ok) {
    fail(FailureKind::tls, tls_->error());
    return;
  }
  outbox_.clear();
  send_ciphertext();
}

void Stream::Connection::send_plain() {
  const std::ptrdiff_t sent = socket_->try_send(outbox_);
  if (sent < 0) {
    outbox_.clear();
    on_send_error(static_cast<int>(sent));
    return;
  }
  const auto taken = static_cast<std::size_t>(sent);
  if (taken == outbox_.size()) {
    outbox_.clear();
    return;
  }
  const int status = socket_->send_later(outbox_, taken);
  if (status != 0) on_send_error(status);
}

void Stream::Connection::send_ciphertext() {
  if (socket_->is_sending_later()) return;
  const std::string_view outgoing = tls_->outgoing();
  if (outgoing.empty()) return;
  const std::ptrdiff_t sent = socket_->try_send(outgoing);
  if (sent < 0) {
    tls_->outgoing_sent();
    on_send_error(static_cast<int>(sent));
    return;
  }
  ciphertext_.assign(outgoing.substr(static_cast<std::size_t>(sent)));
  tls_->outgoing_sent();
  if (ciphertext_.empty()) return;
  const int status = socket_->send_later(ciphertext_, 0);
  if (status != 0) on_send_error(status);
}

void Stream::Connection::on_sent_later(int status) noexcept {
  if (status != 0) {
    on_send_error(status);
    return;
  }
  if (tls_) send_ciphertext();
  if (std::exchange(flush_wanted_, false)) flush();
}

std::size_t Stream::Connection::unsent() const noexcept {
  return outbox_.size() + (socket_ ? socket_->unsent() : 0) + (tls_ ? tls_->outgoing().size() : 0);
}

void Stream::Connection::on_send_error(int status) {
  // The server hung up. Its last bytes (answers, "max number of clients reached", a TLS alert) may
  // still be in the receive buffer; the read side delivers them and then reports the end.
  if (status == UV_EPIPE || status == UV_ECONNRESET) return;
  fail(connection_failure(status));
}

void Stream::Connection::fail(FailureKind kind, std::string message) {
  fail(Failure{kind, std::move(message)});
}

void Stream::Connection::fail(Failure failure) {
  if (phase_ == Phase::failed || phase_ == Phase::closed) return;
  phase_ = Phase::failed;
  failure_ = std::move(failure);
  if (socket_) socket_->close(CloseMode::reset);
  // Failures surface in the middle of open(), of flush() and of a listener's own call. A timer of
  // zero reports all of them to the listener in one way: from the loop, before it polls again.
  auto timer = std::make_unique<uv_timer_t>();
  REDLOCK_ASSERT(uv_timer_init(loop_, timer.get()) == 0);
  timer->data = this;
  report_ = Handle<uv_timer_t>(timer.release());
  REDLOCK_ASSERT(uv_timer_start(report_.get(), on_report, 0, 0) == 0);
}

void Stream::Connection::on_report(uv_timer_t* timer) noexcept {
  const auto self = static_cast<Connection*>(timer->data)->shared_from_this();
  self->report_.reset();
  self->listener_->on_failure(self->failure_);
}

void Stream::Connection::close(CloseMode mode) {
  if (phase_ == Phase::closed) return;
  if (mode == CloseMode::graceful && phase_ == Phase::open) {
    flush();
    // If flush() failed, the socket is closed, and there is nobody to send close_notify to.
    if (phase_ == Phase::open && tls_) {
      tls_->say_close();
      send_ciphertext();
    }
  }
  phase_ = Phase::closed;
  listener_ = nullptr;
  report_.reset();
  if (resolver_ != nullptr) resolver_->forget(*this);
  resolver_ = nullptr;
  own_resolver_.reset();
  connector_.reset();
  if (socket_) socket_->close(mode);
}

Stream::Stream(uv_loop_t* loop, StreamListener& listener)
    : connection_(std::make_shared<Connection>(loop, listener)) {}

Stream::~Stream() { connection_->close(CloseMode::reset); }

void Stream::open(const Endpoint& endpoint) { connection_->open(endpoint); }

void Stream::Connection::server_works() noexcept {
  if (resolver_ != nullptr && address_) resolver_->works(*address_);
}

void Stream::server_works() noexcept { connection_->server_works(); }

std::string& Stream::outbox() noexcept { return connection_->outbox(); }

void Stream::flush() { connection_->flush(); }

std::size_t Stream::unsent() const noexcept { return connection_->unsent(); }

std::string Stream::peer() const { return connection_->peer(); }

bool Stream::shaking_hands() const noexcept { return connection_->shaking_hands(); }

void Stream::close(CloseMode mode) { connection_->close(mode); }

}  // namespace redlock::uv
