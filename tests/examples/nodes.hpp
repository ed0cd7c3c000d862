#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/redis_server.hpp"

namespace example {

/// The nodes named on the command line; without any, a deployment of three servers that live as
/// long as this.
class Nodes {
 public:
  Nodes(int argc, char** argv) : urls_(argv + 1, argv + argc) {
    if (!urls_.empty()) return;
    servers_.emplace(3);
    urls_ = servers_->urls();
  }
  [[nodiscard]] const std::vector<std::string>& urls() const { return urls_; }

 private:
  std::vector<std::string> urls_;
  std::optional<redlock::test::Nodes> servers_;
};

}  // namespace example
