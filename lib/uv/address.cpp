#include "uv/address.hpp"

#include <netinet/in.h>
#include <uv.h>

#include <array>
#include <cstring>

namespace redlock::uv {
namespace {

template <class SockAddr>
Address widen(const SockAddr& narrow) {
  sockaddr_storage storage{};
  std::memcpy(&storage, &narrow, sizeof narrow);
  return Address(storage);
}

}  // namespace

std::string text_of(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> host{};
  if (address.get()->sa_family == AF_INET6) {
    const auto* const v6 = reinterpret_cast<const sockaddr_in6*>(address.get());
    uv_ip6_name(v6, host.data(), host.size());
    return '[' + std::string(host.data()) + "]:" + std::to_string(ntohs(v6->sin6_port));
  }
  const auto* const v4 = reinterpret_cast<const sockaddr_in*>(address.get());
  uv_ip4_name(v4, host.data(), host.size());
  return host.data() + (':' + std::to_string(ntohs(v4->sin_port)));
}

std::optional<Address> parse_literal(const std::string& host, std::uint16_t port) {
  sockaddr_in v4{};
  if (uv_ip4_addr(host.c_str(), port, &v4) == 0) return widen(v4);
  sockaddr_in6 v6{};
  if (uv_ip6_addr(host.c_str(), port, &v6) == 0) return widen(v6);
  return std::nullopt;
}

}  // namespace redlock::uv
