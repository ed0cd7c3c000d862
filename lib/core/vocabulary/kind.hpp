#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/vocabulary/messages.hpp"

namespace redlock::core {

/// Kinds of locks: what is locked, and who else can hold it. An interval is not a kind: any lock
/// can have one.
enum class Kind : std::uint8_t {
  exclusive,  ///< one resource, one holder
  shared,     ///< one resource, any number of readers
  owned,      ///< one resource, any number of leases of one owner
  permit,     ///< one of the permits of a semaphore, each of which has its own key
  several,    ///< several resources, all or none
};
inline constexpr std::size_t kinds = static_cast<std::size_t>(Kind::several) + 1;

/// A kind's properties. Most of the differences between kinds are looked up here.
struct KindTraits {
  std::string_view name;       ///< the name of the kind, for people
  Verb script{};               ///< the script that asks for the lock if a plain SET cannot
  bool by_script = false;      ///< a plain SET never can
  bool has_holds = false;      ///< one key has many tokens: those of a group, which share it
  bool has_one_token = false;  ///< one key has one token, so plain commands can be used
  bool is_chosen = false;   ///< one of several equal locks: a refusal says which of them are free
  bool has_ticket = false;  ///< a client waits at one position of one queue
  bool can_be_fenced = false;  ///< the lock can have a fencing token
};

inline constexpr std::array<KindTraits, kinds> kind_traits{{
    {.name = "exclusive",
     .script = Verb::take,
     .has_one_token = true,
     .has_ticket = true,
     .can_be_fenced = true},
    {.name = "shared", .script = Verb::enter, .by_script = true, .has_holds = true},
    {.name = "owned", .script = Verb::enter, .by_script = true, .has_holds = true},
    {.name = "permit",
     .script = Verb::take_permit,
     .by_script = true,
     .has_one_token = true,
     .is_chosen = true,
     .has_ticket = true},
    {.name = "several", .script = Verb::take, .by_script = true, .can_be_fenced = true},
}};
[[nodiscard]] constexpr const KindTraits& traits_of(Kind kind) noexcept {
  return kind_traits[static_cast<std::size_t>(kind)];
}

}  // namespace redlock::core
