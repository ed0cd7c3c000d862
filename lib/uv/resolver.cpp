#include "uv/resolver.hpp"

#include <netdb.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "uv/address_race.hpp"

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

CallLimit& running_lookups() noexcept {
  static CallLimit limit(most_lookups);
  return limit;
}

}  // namespace

ResolvedHost look_up_host(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  const std::unique_ptr<addrinfo, FreeAddrinfo> list(found);
  // The texts for a status are constants.
  if (status != 0) return {::gai_strerror(status), {}};
  return {nullptr, copy_addresses(found)};
}

Resolver::Resolver(uv_loop_t* loop, HostLookup look_up)
    : look_up_(std::move(look_up)), lookup_(loop, running_lookups()) {}

void Resolver::resolve(const std::string& host, std::uint16_t port, ResolverListener& listener) {
  lookup_.ask([look_up = look_up_, host, port] { return look_up(host, port); }, listener);
}

void Resolver::forget(const ResolverListener& listener) noexcept { lookup_.forget(listener); }

Addresses Resolver::in_order(const Addresses& found) const {
  Addresses addresses = alternate_families(found);
  if (!last_) return addresses;
  auto first = std::find(addresses.begin(), addresses.end(), *last_);
  if (first == addresses.end()) return addresses;
  if (!last_works_) ++first;
  std::rotate(addresses.begin(), first, addresses.end());
  return addresses;
}

void Resolver::trying(const Address& address) noexcept {
  last_ = address;
  last_works_ = false;  // until the server has answered once more
}

void Resolver::works(const Address& address) noexcept {
  last_ = address;
  last_works_ = true;
}

}  // namespace redlock::uv
