#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/assert.hpp"

namespace redlock::api {

/// Converts between the names of resources, as callers have them, and the keys on the nodes, which
/// begin with `ClientOptions::prefix`. Everything below lib/api knows keys only.
class Keyspace {
 public:
  explicit Keyspace(std::string prefix) : prefix_(std::move(prefix)) {}

  /// The key, which is valid until the next call, and only as long as the name is.
  [[nodiscard]] std::string_view key_of(std::string_view name) {
    if (prefix_.empty()) return name;
    key_.assign(prefix_).append(name);
    return key_;
  }
  void make_keys(std::vector<std::string>& names) const {
    if (prefix_.empty()) return;
    for (std::string& name : names) name.insert(0, prefix_);
  }
  void make_names(std::vector<std::string>& keys) const {
    if (prefix_.empty()) return;
    for (std::string& key : keys) key.erase(0, prefix_.size());
  }
  /// The name for a key that came from here, or for a permit of such a key.
  [[nodiscard]] std::string_view name_of(std::string_view key) const noexcept {
    if (prefix_.empty()) return key;
    REDLOCK_ASSERT(key.starts_with(prefix_));
    key.remove_prefix(prefix_.size());
    return key;
  }

 private:
  const std::string prefix_;
  std::string key_;
};

}  // namespace redlock::api
