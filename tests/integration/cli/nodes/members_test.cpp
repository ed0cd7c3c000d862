// quorum-lock members: the command line of changes to a deployment.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/cli/tool.hpp"
#include "integration/membership/members.hpp"
#include "support/eventually.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class CliMembers : public Members {
 protected:
  static ProcessResult tool(Words words, const std::string& nodes) {
    words.insert(words.end(), {"--timeout", "20s", "--max-ttl", "1s", "--nodes", nodes});
    return run_tool(std::move(words));
  }
};

TEST_F(CliMembers, AreShownAndChanged) {
  open(3);
  const ProcessResult shown = tool({"members", "--json"}, nodes_[0].url());
  EXPECT_EQ(shown.exit_code, 0) << shown.errors;
  const Json json = json_of(shown);
  EXPECT_EQ(json.value("outcome", ""), "members");
  EXPECT_EQ(json.at("members").size(), 3U);
  EXPECT_EQ(json.at("nodes").at(0).value("membership", ""), "member");
  EXPECT_TRUE(json.at("resume").is_null());

  const ProcessResult changed =
      tool({"members", "replace", nodes_[2].url(), nodes_[3].url()}, nodes_[0].url());
  EXPECT_EQ(changed.exit_code, 0) << changed.errors;
  EXPECT_THAT(changed.output, HasSubstr("3 members\n"));
  EXPECT_THAT(changed.output, HasSubstr(nodes_[3].url()));
  EXPECT_THAT(changed.errors, HasSubstr("writing " + nodes_[3].url()));
  const ProcessResult nothing = tool({"members", "remove", nodes_[2].url()}, nodes_[0].url());
  EXPECT_EQ(nothing.exit_code, 0) << nothing.errors;
  EXPECT_THAT(nothing.errors, HasSubstr("nothing was changed"));
}

TEST_F(CliMembers, OfNodesThatDoNotAnswerAreUnavailable) {
  open(1);
  nodes_[0].kill();
  const ProcessResult result = tool({"members"}, nodes_[0].url());
  EXPECT_EQ(result.exit_code, 69) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("unavailable: 0 of 1 node answered"));
}

TEST_F(CliMembers, ThatCannotBeMeantAreWrongUsage) {
  open(3);
  const ProcessResult result = tool({"members", "replace", "a:1", "a:2"}, nodes_[0].url());
  EXPECT_EQ(result.exit_code, 64) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("is not a member"));
}

TEST_F(CliMembers, AreNotChangedWithout69WhileOneIsMissing) {
  open(3);
  nodes_[1].kill();
  const ProcessResult result =
      tool({"members", "replace", nodes_[0].url(), nodes_[3].url(), "--json"}, nodes_[2].url());
  EXPECT_EQ(result.exit_code, 69) << result.errors;
  EXPECT_EQ(json_of(result).value("outcome", ""), "refused");
}

TEST_F(CliMembers, AreResumedAfterTheProgramWasKilledAtAnyWriting) {
  open(3);
  const std::string nodes = nodes_[0].url() + "," + nodes_[1].url() + "," + nodes_[2].url();
  std::size_t next = 3;
  std::size_t last = 2;
  // Replaces a member back and forth; the program is killed at its first write, then at its second,
  // ….
  for (std::size_t writings = 1; writings <= 4; ++writings) {
    const Words words{"members",   "replace", nodes_[last].url(), nodes_[next].url(),
                      "--timeout", "20s",     "--max-ttl",        "1s",
                      "--nodes",   nodes};
    ChildProcess killed = start_tool(words);
    EXPECT_TRUE(eventually(
        [&] {
          std::size_t seen = 0;
          const std::string text = killed.errors();
          for (std::size_t at = 0; (at = text.find("writing ", at)) != std::string::npos; ++at) {
            ++seen;
          }
          return seen >= writings || !killed.running();
        },
        seconds(60)));
    killed.signal(SIGKILL);
    static_cast<void>(killed.wait());
    const ProcessResult resumed =
        tool({"members", "replace", nodes_[last].url(), nodes_[next].url(), "--json"}, nodes);
    ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
    EXPECT_THAT(resumed.output, HasSubstr(nodes_[next].url()));
    std::swap(next, last);
  }
}

}  // namespace
}  // namespace redlock::test
