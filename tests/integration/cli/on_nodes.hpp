#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "integration/cli/tool.hpp"
#include "support/redis_server.hpp"

namespace redlock::test {

/// Runs quorum-lock on a deployment of three nodes, which all tests of a suite share and find
/// empty.
class CliOnNodes : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { nodes_ = std::make_unique<Nodes>(3); }
  static void TearDownTestSuite() { nodes_.reset(); }
  void SetUp() override { nodes_->clear(); }

  [[nodiscard]] static Nodes& nodes() { return *nodes_; }
  /// The words, which begin with the verb, with the nodes after it.
  [[nodiscard]] static Words with_nodes(Words words) {
    words.insert(words.begin() + 1, {"--nodes", nodes_->joined_urls()});
    return words;
  }
  static ProcessResult tool(Words words, RunOptions options = {}) {
    return run_tool(with_nodes(std::move(words)), std::move(options));
  }
  [[nodiscard]] static ChildProcess start(Words words) {
    return start_tool(with_nodes(std::move(words)));
  }

 private:
  inline static std::unique_ptr<Nodes> nodes_;
};

}  // namespace redlock::test
