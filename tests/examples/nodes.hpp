#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/redis_server.hpp"

namespace example {

/// The nodes named on the command line; without any, three servers that live as long as this.
class Nodes {
 public:
  Nodes(int argc, char** argv) : urls_(argv + 1, argv + argc) {
    if (!urls_.empty()) return;
    servers_.emplace(3);
    urls_ = servers_->urls();
  }
  [[nodiscard]] const std::vector<std::string>& urls() const { return urls_; }
  /// Servers of our own are new, so they can have forgotten nothing: no restart guard.
  [[nodiscard]] bool given() const { return !servers_; }

 private:
  std::vector<std::string> urls_;
  std::optional<redlock::test::Nodes> servers_;
};

}  // namespace example
