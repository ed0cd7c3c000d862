#include "uv/connector.hpp"

#include <cstdint>
#include <utility>

#include "support/assert.hpp"

namespace redlock::uv {

using std::chrono::milliseconds;

struct Connector::Attempt final : private ConnectListener {
  Attempt(Connector& its_connector, std::size_t its_address, Socket::Kind kind)
      : connector(its_connector), address(its_address), socket(its_connector.loop_, kind) {}

  template <class To>
  [[nodiscard]] int connect(const To& to) {
    return socket.connect(to, *this);
  }
  void on_connected(int status) noexcept override { connector.on_attempt(address, status); }

  Connector& connector;
  std::size_t address;
  Socket socket;
};

Connector::Connector(uv_loop_t* loop, ConnectorListener& listener)
    : loop_(loop), listener_(listener) {}

Connector::~Connector() = default;

void Connector::connect(Addresses addresses, milliseconds limit) {
  addresses_ = std::move(addresses);
  attempts_.resize(addresses_.size());
  race_.emplace(addresses_.size(), limit);
  // Else the time since the loop's turn began would count as time of the first attempt.
  uv_update_time(loop_);
  try_due_addresses(UV_EADDRNOTAVAIL);
}

void Connector::connect(const std::string& path) {
  race_.emplace(1, milliseconds(0));
  const std::size_t only = *race_->next(milliseconds(0));
  attempts_.push_back(std::make_unique<Attempt>(*this, only, Socket::Kind::unix_socket));
  const int status = attempts_[only]->connect(path);
  if (status != 0) on_attempt(only, status);
}

void Connector::try_due_addresses(int last_status) {
  const milliseconds now(uv_now(loop_));
  while (const auto due = race_->next(now)) {
    const Address& address = addresses_[*due];
    attempts_[*due] = std::make_unique<Attempt>(*this, *due, Socket::Kind::tcp);
    listener_.on_trying(address);
    const int status = attempts_[*due]->connect(address);
    if (status == 0) continue;
    last_status = status;
    attempts_[*due].reset();
    race_->failed(*due);
  }
  if (const auto next_at = race_->next_at()) {
    sockets_read_ = false;
    wait(*next_at - now);
  } else {
    timer_.reset();
  }
  // The listener may destroy this connector.
  if (race_->lost()) listener_.on_unconnected(last_status);
}

void Connector::wait(milliseconds time) {
  if (!timer_) {
    auto timer = std::make_unique<uv_timer_t>();
    REDLOCK_ASSERT(uv_timer_init(loop_, timer.get()) == 0);
    timer->data = this;
    timer_ = Handle<uv_timer_t>(timer.release());
  }
  REDLOCK_ASSERT(
      uv_timer_start(timer_.get(), on_timer, static_cast<std::uint64_t>(time.count()), 0) == 0);
}

void Connector::on_timer(uv_timer_t* timer) noexcept {
  auto& self = *static_cast<Connector*>(timer->data);
  // A loop calls timers before it reads sockets: if this turn was long, an answer may be there.
  if (!std::exchange(self.sockets_read_, true)) return self.wait(milliseconds(1));
  // An attempt is under way, or its failure would have begun the next one.
  self.try_due_addresses(0);
}

void Connector::on_attempt(std::size_t address, int status) noexcept {
  if (status != 0) {
    attempts_[address].reset();
    race_->failed(address);
    try_due_addresses(status);
    return;
  }
  timer_.reset();
  // The listener may destroy this connector. The other attempts end with this call.
  const auto attempts = std::exchange(attempts_, {});
  const Addresses addresses = std::exchange(addresses_, {});
  listener_.on_connected(std::move(attempts[address]->socket),
                         addresses.empty() ? nullptr : &addresses[address]);
}

}  // namespace redlock::uv
