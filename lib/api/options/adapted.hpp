#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "redlock/deployment.hpp"
#include "redlock/election.hpp"
#include "redlock/inspection.hpp"
#include "redlock/listing.hpp"
#include "redlock/options.hpp"

/// Options of programs that were compiled with another version of the headers: members that were
/// appended since are not there, and must not even be moved from.
namespace redlock::api {

/// Every member after the size, in order. A new one goes to the end of the struct and of its row,
/// and begins at an offset that no earlier struct had as padding (`alignas` if need be).
template <typename Options>
inline constexpr std::tuple<> members_of{};
template <>
inline constexpr std::tuple members_of<ClientOptions>{&ClientOptions::nodes,
                                                      &ClientOptions::quorum,
                                                      &ClientOptions::name,
                                                      &ClientOptions::name_holders,
                                                      &ClientOptions::user,
                                                      &ClientOptions::password,
                                                      &ClientOptions::tls,
                                                      &ClientOptions::shortest_node_limit,
                                                      &ClientOptions::longest_node_limit,
                                                      &ClientOptions::connect_timeout,
                                                      &ClientOptions::max_ttl,
                                                      &ClientOptions::guards,
                                                      &ClientOptions::plain_commands,
                                                      &ClientOptions::on_node_event,
                                                      &ClientOptions::observer,
                                                      &ClientOptions::prefix,
                                                      &ClientOptions::credentials,
                                                      &ClientOptions::tls_server_name,
                                                      &ClientOptions::on_log};
template <>
inline constexpr std::tuple members_of<AcquireOptions>{
    &AcquireOptions::ttl,          &AcquireOptions::renew,      &AcquireOptions::max_hold,
    &AcquireOptions::max_renewals, &AcquireOptions::fencing,    &AcquireOptions::orphan_ttl,
    &AcquireOptions::name,         &AcquireOptions::on_at_risk, &AcquireOptions::on_lost};
template <>
inline constexpr std::tuple members_of<BreakOptions>{&BreakOptions::delay};
template <>
inline constexpr std::tuple members_of<WatchOptions>{&WatchOptions::poll_interval};
template <>
inline constexpr std::tuple members_of<ElectionOptions>{
    &ElectionOptions::candidate, &ElectionOptions::ttl, &ElectionOptions::poll_interval,
    &ElectionOptions::on_at_risk, &ElectionOptions::on_lost};
template <>
inline constexpr std::tuple members_of<admin::ListOptions>{&admin::ListOptions::pattern,
                                                           &admin::ListOptions::keys_per_node};
template <>
inline constexpr std::tuple members_of<admin::ChangeOptions>{
    &admin::ChangeOptions::on_progress, &admin::ChangeOptions::stop,
    &admin::ChangeOptions::patience, &admin::ChangeOptions::after_loss};

/// The options of this version: members that the program's options do not have get their defaults.
/// Every function of the library does this first.
template <typename Options>
[[nodiscard]] Options adapted(const Options& given) {
  if (given.struct_size == sizeof(Options)) return given;
  Options own;
  const auto take = [&](auto member) {
    const auto* const from = reinterpret_cast<const std::byte*>(&given);
    const auto* const end = reinterpret_cast<const std::byte*>(&(given.*member) + 1);
    if (static_cast<std::size_t>(end - from) <= given.struct_size) own.*member = given.*member;
  };
  std::apply([&](auto... members) { (take(members), ...); }, members_of<Options>);
  return own;
}
template <typename Options>
[[nodiscard]] Options adapted(Options&& given) requires(!std::is_reference_v<Options>) {
  // Options of programs of another version are copied, which is rare.
  if (given.struct_size == sizeof(Options)) return std::forward<Options>(given);
  return adapted(std::as_const(given));
}

}  // namespace redlock::api
