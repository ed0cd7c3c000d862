// Nodes whose names have several addresses, of which some are dead.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "integration/cli/tool.hpp"
#include "support/programs.hpp"
#include "support/redis_server.hpp"
#include "support/sockets.hpp"

namespace redlock::test {
namespace {

using testing::HasSubstr;

constexpr const char* live = "127.0.0.1";
constexpr const char* silent = "127.0.1.1";    // a machine that is gone
constexpr const char* refusing = "127.0.1.2";  // a machine that has no server

/// Three nodes. The hosts of the first two have dead addresses before the one that is alive.
class CliAddresses : public testing::TestWithParam<std::vector<std::string>> {
 protected:
  static void SetUpTestSuite() {
    nodes_ = std::make_unique<Nodes>(3);
    for (const std::size_t node : {0U, 1U}) {
      silent_.push_back(std::make_unique<SilentListener>(silent, (*nodes_)[node].port()));
    }
  }
  static void TearDownTestSuite() {
    silent_.clear();
    nodes_.reset();
  }
  void SetUp() override { nodes_->clear(); }

  /// With a time limit that a stalled machine does not exceed. An address that drops all attempts
  /// is silent for longer.
  [[nodiscard]] static ProcessResult tool(Words words) {
    std::string addresses;
    for (const std::string& dead : GetParam()) addresses += dead + ",";
    addresses += live;
    RunOptions options;
    options.environment = {
        "LD_PRELOAD=" + hosts_preload(),
        "REDLOCK_TEST_HOSTS=a.test=" + addresses + " b.test=" + addresses,
        // This program runs with a sanitizer's library, too, which then comes second.
        "ASAN_OPTIONS=verify_asan_link_order=0",
    };
    const auto port = [](std::size_t node) { return std::to_string((*nodes_)[node].port()); };
    words.insert(
        words.begin() + 1,
        {"--nodes", "a.test:" + port(0) + ",b.test:" + port(1) + "," + (*nodes_)[2].short_url(),
         "--timeout", "20s"});
    return run_tool(std::move(words), std::move(options));
  }

 private:
  inline static std::unique_ptr<Nodes> nodes_;
  inline static std::vector<std::unique_ptr<SilentListener>> silent_;
};

// Each command is a process of its own, so no command knows which address worked before. Two of
// three nodes have dead addresses, so none of these commands succeeds without one of them.
TEST_P(CliAddresses, EveryCommandReachesTheAddressThatIsAlive) {
  const ProcessResult acquired = tool({"acquire", "r", "--ttl", "30s", "--json"});
  ASSERT_EQ(acquired.exit_code, 0) << acquired.errors;
  const std::string token = json_of(acquired)["token"];
  const ProcessResult listed = tool({"list"});
  EXPECT_EQ(listed.exit_code, 0) << listed.errors;
  EXPECT_THAT(listed.output, HasSubstr("r"));
  const ProcessResult released = tool({"release", "r", "--token", token});
  EXPECT_EQ(released.exit_code, 0) << released.errors;
  const ProcessResult checked = tool({"doctor"});
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
  const ProcessResult ran = tool({"run", "r", "--", "true"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
}

INSTANTIATE_TEST_SUITE_P(Dead, CliAddresses,
                         testing::Values(std::vector<std::string>{silent},
                                         std::vector<std::string>{refusing},
                                         std::vector<std::string>{"::1", silent},
                                         std::vector<std::string>{silent, refusing, silent},
                                         std::vector<std::string>(15, silent)));

}  // namespace
}  // namespace redlock::test
