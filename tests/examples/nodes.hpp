#pragma once

#include <optional>
#include <string>
#include <vector>

#if __has_include("support/redis_server.hpp")
#include "support/redis_server.hpp"
#endif

namespace example {

/// The nodes named on the command line. Without any, in the build of the library: a deployment of
/// three servers that live as long as this.
class Nodes {
 public:
  Nodes(int argc, char** argv) : urls_(argv + 1, argv + argc) {
#if __has_include("support/redis_server.hpp")
    if (!urls_.empty()) return;
    servers_.emplace(3);
    urls_ = servers_->urls();
#endif
  }
  [[nodiscard]] const std::vector<std::string>& urls() const { return urls_; }

 private:
  std::vector<std::string> urls_;
#if __has_include("support/redis_server.hpp")
  std::optional<redlock::test::Nodes> servers_;
#endif
};

}  // namespace example
