#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace redlock::uv {

/// An IPv4 or IPv6 address with its port.
class Address {
 public:
  explicit Address(const sockaddr_storage& storage) noexcept : storage_(storage) {}
  [[nodiscard]] const sockaddr* get() const noexcept {
    return reinterpret_cast<const sockaddr*>(&storage_);
  }
  /// The unused part of an address's storage is zero.
  friend bool operator==(const Address& a, const Address& b) noexcept {
    return std::memcmp(&a.storage_, &b.storage_, sizeof a.storage_) == 0;
  }

 private:
  sockaddr_storage storage_;
};

using Addresses = std::vector<Address>;

/// "10.0.0.7:6379", "[fe80::1]:6379"
[[nodiscard]] std::string text_of(const Address& address);

/// None if `host` is not an IP literal and has to be resolved.
[[nodiscard]] std::optional<Address> parse_literal(const std::string& host, std::uint16_t port);

}  // namespace redlock::uv
