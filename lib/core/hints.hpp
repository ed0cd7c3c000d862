#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/node_set.hpp"
#include "core/time.hpp"

namespace redlock::core {

/// How long a node goes on telling after it was asked to.
inline constexpr Duration tells_for = std::chrono::seconds(30);

/// Whether who holds a key by this name tells those who wait when it is given up: our own tokens
/// and groups do. Other clients' locks, which are plain keys too, have to be looked at again.
[[nodiscard]] bool tells_when_free(std::string_view holder);

/// Who waits for which key, and which nodes tell when it is given up. What they tell is a hint: it
/// says when to look again, and counts for nothing else.
class Hints {
 public:
  struct Key {
    NodeSet asked;                       ///< to tell
    NodeSet telling;                     ///< confirmed that they do
    std::vector<std::uint32_t> waiters;  ///< acquisitions
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const noexcept {
      return std::hash<std::string_view>()(key);
    }
  };
  using Keys = std::unordered_map<std::string, Key, Hash, std::equal_to<>>;

  /// `waiter` waits for that key. The name stays where it is while anybody does.
  Keys::value_type& wait(std::string_view key, std::uint32_t waiter);

  /// `waiter` does not wait any more. A key that nobody waits for is kept for a while: who locks it
  /// again and again need not ask again. Answers one that is to be given up for it, or null.
  [[nodiscard]] Keys::value_type* stop(std::string_view key, std::uint32_t waiter);

  [[nodiscard]] Keys::value_type* find(std::string_view key);
  /// Unless somebody waits for it again.
  void forget(std::string_view key);

  /// The node does not tell anything any more. Answers whether it was asked to.
  bool lost(NodeIndex node);

 private:
  Keys keys_;
  std::vector<Keys::value_type*> idle_;  ///< that nobody waits for, oldest first
};

}  // namespace redlock::core
