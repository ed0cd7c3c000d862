#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace redlock::cli {

/// Why each of some nodes failed, with the nodes of one reason together:
/// "redis://a, redis://b: connection refused; redis://c: no answer within 1 s".
class Reasons {
 public:
  void add(std::string_view node, std::string_view reason);
  /// In the order in which each reason was first added; empty: no node has failed.
  [[nodiscard]] std::string text() const;

 private:
  struct Group {
    std::string reason;
    std::string nodes;
  };
  std::vector<Group> groups_{};
};

}  // namespace redlock::cli
