#include "uv/resolver.hpp"

#include <netdb.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "support/fork_guard.hpp"
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

/// Counts the lookups of this process. A forked child has none of its parent's threads, and begins
/// at zero: the count is kept together with the generation that it belongs to.
class LookupCount {
 public:
  [[nodiscard]] bool take() noexcept {
    std::uint64_t before = count_.load(std::memory_order_relaxed);
    std::uint64_t after = 0;
    do {
      const std::uint64_t running = generation_of(before) == generation() ? before % base : 0;
      if (running >= most_lookups) return false;
      after = generation() * base + running + 1;
    } while (!count_.compare_exchange_weak(before, after, std::memory_order_relaxed));
    return true;
  }
  void give_back() noexcept { count_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t base = std::uint64_t{1} << 16U;
  static_assert(most_lookups < base);
  [[nodiscard]] static std::uint64_t generation() noexcept {
    return support::fork_generation() % (std::uint64_t{1} << 48U);
  }
  [[nodiscard]] static std::uint64_t generation_of(std::uint64_t count) noexcept {
    return count / base;
  }
  std::atomic<std::uint64_t> count_{0};
};

LookupCount& running_lookups() noexcept {
  static LookupCount count;
  return count;
}

}  // namespace

ResolvedHost look_up_host(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  const std::unique_ptr<addrinfo, FreeAddrinfo> list(found);
  // The words for a status are constants.
  if (status != 0) return {::gai_strerror(status), {}};
  return {nullptr, copy_addresses(found)};
}

/// Shared by the two threads, for as long as either needs it.
struct Resolver::Lookup {
  std::string host;
  std::uint16_t port = 0;
  HostLookup look_up;
  std::mutex mutex;              // guards what follows
  std::optional<Wakeup> wakeup;  // none once nobody wants the result any more
  ResolvedHost result;

  void run() noexcept {
    ResolvedHost found = look_up(host, port);
    // Before anybody can know that it is over.
    running_lookups().give_back();
    const std::lock_guard lock(mutex);
    result = std::move(found);
    if (wakeup) wakeup->notify();
  }
};

Resolver::Resolver(uv_loop_t* loop, HostLookup look_up)
    : loop_(loop), look_up_(std::move(look_up)) {}

Resolver::~Resolver() {
  if (!lookup_) return;
  const std::lock_guard lock(lookup_->mutex);
  lookup_->wakeup.reset();
}

void Resolver::resolve(const std::string& host, std::uint16_t port, ResolverListener& listener) {
  if (unclaimed_) {
    Addresses addresses = in_order(*std::exchange(unclaimed_, std::nullopt));
    return listener.on_resolved(nullptr, std::move(addresses));
  }
  if (!lookup_) {
    if (const char* problem = start(host, port)) return listener.on_resolved(problem, {});
  }
  listeners_.push_back(&listener);
}

const char* Resolver::start(const std::string& host, std::uint16_t port) {
  auto lookup = std::make_shared<Lookup>();
  lookup->host = host;
  lookup->port = port;
  lookup->look_up = look_up_;
  lookup->wakeup.emplace(loop_, Callback::to<&Resolver::on_done>(*this));
  if (!running_lookups().take()) return "too many other lookups hang";
  const SignalsBlocked blocked;
  try {
    std::thread([lookup]() noexcept { lookup->run(); }).detach();
  } catch (const std::system_error&) {
    running_lookups().give_back();
    return "no thread for it";
  }
  lookup_ = std::move(lookup);
  return nullptr;
}

void Resolver::forget(const ResolverListener& listener) noexcept {
  std::erase(listeners_, &listener);
}

void Resolver::on_done() noexcept {
  const auto lookup = std::exchange(lookup_, nullptr);
  {
    const std::lock_guard lock(lookup->mutex);
    lookup->wakeup.reset();
  }
  const ResolvedHost& result = lookup->result;
  if (listeners_.empty() && result.problem == nullptr) unclaimed_ = result.addresses;
  while (!listeners_.empty()) {
    ResolverListener* const listener = listeners_.front();
    listeners_.erase(listeners_.begin());
    // Each in its own order: those before have begun to try.
    listener->on_resolved(result.problem, in_order(result.addresses));
  }
}

Addresses Resolver::in_order(Addresses addresses) const {
  if (!last_) return addresses;
  auto first = std::find(addresses.begin(), addresses.end(), *last_);
  if (first == addresses.end()) return addresses;
  if (!last_works_) ++first;
  std::rotate(addresses.begin(), first, addresses.end());
  return addresses;
}

void Resolver::trying(const Address& address) noexcept {
  last_ = address;
  last_works_ = false;  // until it has answered once more
}

void Resolver::works(const Address& address) noexcept {
  last_ = address;
  last_works_ = true;
}

}  // namespace redlock::uv
