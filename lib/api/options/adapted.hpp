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
inline constexpr std::tuple members_of<TlsOptions>{&TlsOptions::ca_file,
                                                   &TlsOptions::certificate_file,
                                                   &TlsOptions::key_file, &TlsOptions::server_name};
template <>
inline constexpr std::tuple members_of<NodeOptions>{
    &NodeOptions::connect_timeout, &NodeOptions::shortest_timeout, &NodeOptions::longest_timeout,
    &NodeOptions::plain_commands};
template <>
inline constexpr std::tuple members_of<GuardOptions>{
    &GuardOptions::restart, &GuardOptions::quarantine, &GuardOptions::trust_durable,
    &GuardOptions::clock, &GuardOptions::clock_bound};
template <>
inline constexpr std::tuple members_of<ClientOptions>{
    &ClientOptions::nodes,        &ClientOptions::quorum,        &ClientOptions::name,
    &ClientOptions::name_holders, &ClientOptions::user,          &ClientOptions::password,
    &ClientOptions::tls,          &ClientOptions::node,          &ClientOptions::max_ttl,
    &ClientOptions::guards,       &ClientOptions::on_node_event, &ClientOptions::observer,
    &ClientOptions::prefix,       &ClientOptions::credentials,   &ClientOptions::on_log};
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

/// Whether these are options of the version of this library, with all options within them.
template <typename Options>
[[nodiscard]] bool is_current(const Options& given) {
  if (given.struct_size != sizeof(Options)) return false;
  const auto is = [&](auto member) {
    if constexpr (requires { (given.*member).struct_size; }) return is_current(given.*member);
    return true;
  };
  return std::apply([&](auto... members) { return (is(members) && ...); }, members_of<Options>);
}

/// The options of this version: members that the program's options do not have get their defaults.
/// Every function of the library does this first. In other versions, options within others have
/// other sizes, and so the members after them other places.
template <typename Options>
[[nodiscard]] Options adapted(const Options& given) {
  if (is_current(given)) return given;
  Options own;
  const auto* const from = reinterpret_cast<const std::byte*>(&given);
  std::size_t end = sizeof(given.struct_size);
  const auto take = [&]<typename Member>(Member Options::*member) {
    const std::size_t begin = (end + alignof(Member) - 1) / alignof(Member) * alignof(Member);
    end = begin + sizeof(Member);
    const auto* const theirs = reinterpret_cast<const Member*>(from + begin);
    if constexpr (requires { theirs->struct_size; }) {
      if (begin + sizeof(theirs->struct_size) > given.struct_size) return;
      end = begin + theirs->struct_size;
      own.*member = adapted(*theirs);
    } else {
      if (end <= given.struct_size) own.*member = *theirs;
    }
  };
  std::apply([&](auto... members) { (take(members), ...); }, members_of<Options>);
  return own;
}
template <typename Options>
[[nodiscard]] Options adapted(Options&& given) requires(!std::is_reference_v<Options>) {
  // Options of programs of another version are copied, which is rare.
  if (is_current(given)) return std::forward<Options>(given);
  return adapted(std::as_const(given));
}

}  // namespace redlock::api
