#include "uv/resolver.hpp"

#include <netdb.h>

#include <cstring>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "uv/signals_blocked.hpp"
#include "uv/wakeup.hpp"

namespace redlock::uv {
namespace {

struct FreeAddrinfo {
  void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};

Addresses copy_addresses(const addrinfo* found) {
  Addresses addresses;
  for (; found != nullptr; found = found->ai_next) {
    sockaddr_storage storage{};
    if (found->ai_addrlen > sizeof storage) continue;
    std::memcpy(&storage, found->ai_addr, found->ai_addrlen);
    addresses.emplace_back(storage);
  }
  return addresses;
}

}  // namespace

/// What the two threads share, for as long as either needs it.
struct Resolver::Lookup {
  std::string host;
  std::string port;
  std::mutex mutex;              // guards what follows
  std::optional<Wakeup> wakeup;  // none once nobody waits any more
  const char* problem = nullptr;
  Addresses addresses;

  void run() noexcept {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const int status = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
    const std::unique_ptr<addrinfo, FreeAddrinfo> list(found);
    const std::lock_guard lock(mutex);
    if (status == 0) addresses = copy_addresses(found);
    // The words for a status are constants.
    if (status != 0) problem = ::gai_strerror(status);
    if (wakeup) wakeup->notify();
  }
};

Resolver::Resolver(uv_loop_t* loop, ResolverListener& listener)
    : listener_(listener), lookup_(std::make_shared<Lookup>()) {
  lookup_->wakeup.emplace(loop, Callback::to<&Resolver::on_done>(*this));
}

Resolver::~Resolver() {
  const std::lock_guard lock(lookup_->mutex);
  lookup_->wakeup.reset();
}

bool Resolver::start(const std::string& host, std::uint16_t port) {
  lookup_->host = host;
  lookup_->port = std::to_string(port);
  const SignalsBlocked blocked;
  try {
    std::thread([lookup = lookup_]() noexcept { lookup->run(); }).detach();
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

void Resolver::on_done() noexcept {
  const auto lookup = lookup_;  // the listener may destroy us
  {
    const std::lock_guard lock(lookup->mutex);
    lookup->wakeup.reset();
  }
  listener_.on_resolved(lookup->problem, std::move(lookup->addresses));
}

}  // namespace redlock::uv
