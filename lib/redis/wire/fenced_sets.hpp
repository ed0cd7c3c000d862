#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace redlock::redis {

/// Fenced SETs in their short form (core::Verb::set_fenced_short) that follow one another to the
/// same nodes: a SET for each, then one ZADD of all numbers and one MGET of all keys. Both cost a
/// node most for the command, and little for each further name.
///
/// ZADD answers how many numbers it has raised. Fewer than all: it does not say which, so none of
/// them is acknowledged.
class FencedSets {
 public:
  /// So many in one call: a node answers nobody else while it executes the ZADD.
  static constexpr std::size_t most = 64;
  /// The answers behind those to the SETs.
  static constexpr std::size_t further_values = 2;

  /// `set` is the SET, encoded.
  void add(std::string_view set, std::string_view resource, std::string_view token,
           std::int64_t number);

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] bool full() const noexcept { return count_ == most; }

  /// Appends all commands to `out`.
  void encode(std::string& out) const;

  /// Appends to `out` how a node answers where each key was set and each number raised, and the
  /// keys are ours at the end. `granted`: how it answers a SET that was granted.
  void encode_yes(std::string& out, std::string_view granted) const;

  /// Makes it empty, keeping its memory.
  void clear() noexcept;

 private:
  std::size_t count_ = 0;
  std::string sets_;     // as they are sent, and all below
  std::string numbers_;  // each with its resource
  std::string resources_;
  std::string tokens_;
};

}  // namespace redlock::redis
