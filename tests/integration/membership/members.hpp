#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "integration/deployment.hpp"
#include "redlock/deployment.hpp"

namespace redlock::test {

/// Five nodes, some of which are opened as a deployment.
class Members : public testing::Test {
 protected:
  static constexpr std::chrono::milliseconds short_max_ttl{1000};

  [[nodiscard]] static ClientOptions options_of(std::vector<std::string> urls) {
    ClientOptions options = patient(std::move(urls));
    options.max_ttl = short_max_ttl;
    return options;
  }

  void open(std::size_t count) {
    auto names = nodes_.urls();
    names.resize(count);
    ASSERT_TRUE(succeeded(admin::bootstrap(options_of(names))));
    for (std::size_t node = 0; node < count; ++node) initial_.push_back(nodes_[node].url());
  }

  [[nodiscard]] std::vector<std::string> urls(const std::vector<std::size_t>& indices) const {
    std::vector<std::string> chosen;
    for (const std::size_t index : indices) chosen.push_back(nodes_[index].url());
    return chosen;
  }

  NewNodes nodes_{5};
  std::vector<std::string> initial_;
};

}  // namespace redlock::test
