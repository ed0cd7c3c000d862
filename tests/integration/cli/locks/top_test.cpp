// top, and list --watch, on a terminal.

#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "integration/cli/on_nodes.hpp"
#include "integration/library.hpp"
#include "support/pseudo_terminal.hpp"

namespace redlock::test {
namespace {

constexpr std::string_view entered = "\x1b[?1049h";
constexpr std::string_view left = "\x1b[?7h\x1b[?25h\x1b[?1049l";

class CliTerminal : public CliOnNodes {
 protected:
  static void store(const std::string& resource) {
    for (const RedisServer& node : nodes()) {
      node.command({"SET", resource, hex_token(), "PX", "29000"});
    }
  }
  static std::unique_ptr<PseudoTerminal> start(Words words, PseudoTerminal::Size size = {},
                                               std::vector<std::string> environment = {}) {
    words.insert(words.end(), {"--nodes", nodes().joined_urls()});
    return std::make_unique<PseudoTerminal>(tool_words(std::move(words)),
                                            tool_environment(std::move(environment)), size);
  }
  static void expect_given_back(PseudoTerminal& terminal) {
    EXPECT_TRUE(terminal.output().ends_with(left)) << terminal.output();
    EXPECT_TRUE(terminal.is_in_line_mode());
  }
};

TEST_F(CliTerminal, TopShowsTheNodesAndEachNewLockUntilQ) {
  store("first");
  const auto terminal = start({"top"});
  EXPECT_TRUE(terminal->wait_for("first")) << terminal->output();
  EXPECT_TRUE(terminal->output().starts_with(entered));
  EXPECT_FALSE(terminal->is_in_line_mode());
  for (const RedisServer& node : nodes()) EXPECT_TRUE(terminal->wait_for(node.url()));
  EXPECT_TRUE(terminal->wait_for("3 of 3 nodes answer, quorum 2"));
  EXPECT_TRUE(terminal->wait_for("iB")) << "the memory of a node";
  EXPECT_TRUE(terminal->wait_for("3/3"));
  store("second");
  EXPECT_TRUE(terminal->wait_for("second"));
  terminal->type("xq");
  EXPECT_EQ(terminal->wait(), (ExitStatus{0, 0}));
  expect_given_back(*terminal);
}

TEST_F(CliTerminal, TopGivesTheTerminalBackOnSignals) {
  for (const auto& [number, keys] : {std::pair(SIGINT, "\x03"), std::pair(SIGTERM, "")}) {
    const auto terminal = start({"top"});
    EXPECT_TRUE(terminal->wait_for("3 of 3"));
    terminal->type(keys);
    if (number == SIGTERM) terminal->signal(number);
    EXPECT_EQ(terminal->wait(), (ExitStatus{128 + number, 0}));
    expect_given_back(*terminal);
  }
}

TEST_F(CliTerminal, TopGivesTheTerminalBackWhileItIsStopped) {
  const auto terminal = start({"top"});
  EXPECT_TRUE(terminal->wait_for("3 of 3"));
  terminal->type("\x1a");
  EXPECT_TRUE(eventually([&] { return terminal->is_stopped(); }, std::chrono::seconds(30)));
  expect_given_back(*terminal);
  terminal->forget_output();
  terminal->signal(SIGCONT);
  EXPECT_TRUE(terminal->wait_for("3 of 3"));
  EXPECT_FALSE(terminal->is_in_line_mode());
  terminal->type("q");
  EXPECT_EQ(terminal->wait(), (ExitStatus{0, 0}));
  expect_given_back(*terminal);
}

TEST_F(CliTerminal, TopFollowsTheWindow) {
  for (int i = 10; i < 30; ++i) store("resource-" + std::to_string(i));
  const auto terminal = start({"top"}, {100, 40});
  EXPECT_TRUE(terminal->wait_for("resource-29"));
  EXPECT_EQ(terminal->output().find("more"), std::string::npos);
  terminal->resize({60, 12});
  EXPECT_TRUE(terminal->wait_for(" more"));
  terminal->forget_output();
  terminal->resize({100, 40});
  EXPECT_TRUE(terminal->wait_for("resource-29"));
}

TEST_F(CliTerminal, TopIsColouredUnlessNoColourIsWanted) {
  const auto coloured = start({"top"}, {}, {"NO_COLOR="});
  EXPECT_TRUE(coloured->wait_for("3 of 3"));
  EXPECT_TRUE(coloured->wait_for("\x1b[2m"));
  const auto plain = start({"top"}, {}, {"NO_COLOR=1"});
  EXPECT_TRUE(plain->wait_for("q quits"));
  EXPECT_EQ(plain->output().find("\x1b[2m"), std::string::npos);
}

TEST_F(CliTerminal, TopQuitsWhileNodesHang) {
  nodes()[0].stop();
  const auto terminal = start({"top", "--timeout", "10m"});
  EXPECT_TRUE(terminal->wait_for("asking the nodes"));
  terminal->type("q");
  EXPECT_EQ(terminal->wait(), (ExitStatus{0, 0}));
  expect_given_back(*terminal);
  nodes()[0].resume();
}

TEST_F(CliTerminal, TopNamesANodeThatIsDown) {
  store("r");
  nodes()[2].kill();
  const auto terminal = start({"top"});
  EXPECT_TRUE(terminal->wait_for("2 of 3 nodes answer"));
  EXPECT_TRUE(terminal->wait_for("unreachable"));
  EXPECT_TRUE(terminal->wait_for("2/3"));
  nodes()[2].start();
  EXPECT_TRUE(terminal->wait_for("3 of 3"));
}

TEST_F(CliTerminal, ListRedrawsWhatItWatches) {
  store("first");
  const auto terminal = start({"list", "--watch"});
  EXPECT_TRUE(terminal->wait_for("first"));
  EXPECT_EQ(terminal->output().find(entered), std::string::npos);
  terminal->forget_output();
  store("second");
  EXPECT_TRUE(terminal->wait_for("\x1b[H2 resources: 2 held"));
  terminal->type("\x03");
  EXPECT_EQ(terminal->wait(), (ExitStatus{130, 0}));
}

}  // namespace
}  // namespace redlock::test
