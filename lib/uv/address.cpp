#include "uv/address.hpp"

#include <netinet/in.h>
#include <uv.h>

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

std::optional<Address> parse_literal(const std::string& host, std::uint16_t port) {
  sockaddr_in v4{};
  if (uv_ip4_addr(host.c_str(), port, &v4) == 0) return widen(v4);
  sockaddr_in6 v6{};
  if (uv_ip6_addr(host.c_str(), port, &v6) == 0) return widen(v6);
  return std::nullopt;
}

}  // namespace redlock::uv
