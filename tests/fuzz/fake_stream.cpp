#include "fuzz/fake_stream.hpp"

#include <utility>

#include "support/assert.hpp"

namespace redlock::fuzz {
namespace {

std::weak_ptr<Peer>& newest() {
  static std::weak_ptr<Peer> peer;
  return peer;
}

}  // namespace

std::shared_ptr<Peer> newest_peer() { return newest().lock(); }

void accept(const std::shared_ptr<Peer>& peer) {
  if (peer->closed() || peer->connected || !peer->opened) return;
  peer->connected = true;
  peer->listener->on_open();
}

void send(const std::shared_ptr<Peer>& peer, std::string_view bytes) {
  if (peer->closed() || !peer->connected || bytes.empty()) return;
  // In memory of its own, which is gone after the call as libuv's is.
  const std::string lent(bytes);
  peer->listener->on_bytes(lent);
}

void hang_up(const std::shared_ptr<Peer>& peer) {
  if (peer->closed()) return;
  uv::StreamListener* listener = peer->listener;
  peer->connected = false;
  listener->on_failure({uv::FailureKind::closed_by_peer, "connection closed by the server"});
}

}  // namespace redlock::fuzz

namespace redlock::uv {

class Stream::Connection final : public fuzz::Peer {};

Stream::Stream(uv_loop_t* loop, StreamListener& listener)
    : connection_(std::make_shared<Connection>()) {
  connection_->loop = loop;
  connection_->listener = &listener;
  fuzz::newest() = connection_;
}

Stream::~Stream() { close(CloseMode::reset); }

void Stream::open(const Endpoint& /*endpoint*/) {
  REDLOCK_ASSERT(!connection_->opened);
  connection_->opened = true;
}

std::string& Stream::outbox() noexcept { return connection_->outbox; }

bool Stream::shaking_hands() const noexcept { return false; }
std::string Stream::peer() const { return {}; }

void Stream::flush() {
  if (!connection_->connected) return;
  connection_->received += std::exchange(connection_->outbox, {});
}

std::size_t Stream::unsent() const noexcept { return connection_->outbox.size(); }

void Stream::server_works() noexcept {}

void Stream::close(CloseMode /*mode*/) { connection_->listener = nullptr; }

}  // namespace redlock::uv
