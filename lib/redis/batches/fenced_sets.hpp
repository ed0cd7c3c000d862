#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace redlock::redis {

/// Fenced SETs in their short form (core::Verb::set_fenced_short) that follow one another to the
/// same nodes: a SET for each, then one ZADD of all numbers and one MGET of all keys. The main cost
/// of ZADD and MGET for a node is the command; a further name costs little.
///
/// ZADD answers how many numbers it has raised. If it raised fewer than all, it does not say which,
/// so none of them is acknowledged.
class FencedSets {
 public:
  /// The most requests in one call: a node answers nobody else while it executes the ZADD.
  static constexpr std::size_t most = 64;
  /// Number of answers after those to the SETs.
  static constexpr std::size_t further_values = 2;

  /// `set` is the SET, encoded.
  void add(std::string_view set, std::string_view resource, std::string_view token,
           std::int64_t number);

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] bool full() const noexcept { return count_ == most; }

  /// Appends all commands to `out`.
  void encode(std::string& out) const;

  /// Appends to `out` a node's answer if it set each key, raised each number, and the keys are ours
  /// at the end. `granted`: the node's answer to a granted SET.
  void encode_yes(std::string& out, std::string_view granted) const;

  /// Makes it empty, keeping its memory.
  void clear() noexcept;

 private:
  std::size_t count_ = 0;
  std::string sets_;     // as sent; the same for all fields below
  std::string numbers_;  // each number with its resource
  std::string resources_;
  std::string tokens_;
};

}  // namespace redlock::redis
