#include "uv/address_race.hpp"

#include <algorithm>
#include <iterator>

namespace redlock::uv {

Addresses alternate_families(const Addresses& addresses) {
  Addresses first;
  Addresses others;
  for (const Address& address : addresses) {
    const bool same = address.get()->sa_family == addresses.front().get()->sa_family;
    (same ? first : others).push_back(address);
  }
  Addresses alternating;
  for (std::size_t i = 0; i < std::max(first.size(), others.size()); ++i) {
    if (i < first.size()) alternating.push_back(first[i]);
    if (i < others.size()) alternating.push_back(others[i]);
  }
  return alternating;
}

AddressRace::AddressRace(std::size_t addresses, Milliseconds limit) noexcept
    : addresses_(addresses),
      delay_(std::clamp(
          limit / static_cast<Milliseconds::rep>(2 * std::max<std::size_t>(addresses, 1)),
          shortest_delay, longest_delay)) {}

std::optional<std::size_t> AddressRace::next(Milliseconds now) noexcept {
  if (begun_ == addresses_ || now < due_) return std::nullopt;
  due_ = now + delay_;
  return begun_++;
}

std::optional<AddressRace::Milliseconds> AddressRace::next_at() const noexcept {
  if (begun_ == addresses_) return std::nullopt;
  return due_;
}

void AddressRace::failed(std::size_t address) noexcept {
  ++failed_;
  if (address + 1 == begun_) due_ = Milliseconds::min();
}

}  // namespace redlock::uv
