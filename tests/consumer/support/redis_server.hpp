#pragma once

#include <cstddef>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace redlock::test {

/// In the place of the tests' own header, which other projects do not have: the servers that
/// tests/consumer/run has started.
class Nodes {
 public:
  explicit Nodes(std::size_t) {
    const char* urls = std::getenv("CONSUMER_NODES");
    std::istringstream words(urls == nullptr ? "" : urls);
    for (std::string url; words >> url;) urls_.push_back(url);
  }
  [[nodiscard]] std::vector<std::string> urls() const { return urls_; }

 private:
  std::vector<std::string> urls_;
};

}  // namespace redlock::test
