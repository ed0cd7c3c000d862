// run --adopt: a command under a lock from `acquire`, of every kind, and the refusals.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "integration/cli/on_nodes.hpp"
#include "integration/library.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

using testing::HasSubstr;

class CliAdopt : public CliOnNodes {
 protected:
  /// Acquires; returns the lease, which is on a quorum.
  static Json acquired(Words words) {
    words.insert(words.begin(), "acquire");
    words.insert(words.end(), {"--json", "--ttl", "20s"});
    Json lease = json_of(tool(words));
    EXPECT_EQ(lease.value("outcome", ""), "acquired") << lease;
    return lease;
  }
  static std::string token_in(const Json& lease) { return lease.value("token", ""); }
  /// Runs a script under the adopted lock.
  static ProcessResult run(const Words& resources, const std::string& token, const Words& more,
                           const std::string& script) {
    Words words{"run"};
    words.insert(words.end(), resources.begin(), resources.end());
    words.insert(words.end(), {"--adopt", token});
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--", "sh", "-c", script});
    return tool(words);
  }
  static bool is_free(const Words& resource) {
    Words words{"acquire", "--ttl", "20s", "--quiet"};
    words.insert(words.begin() + 1, resource.begin(), resource.end());
    const ProcessResult lock = tool(words);
    if (lock.exit_code != 0) return false;
    Words release{"release", "--token", lock.output.substr(0, lock.output.size() - 1)};
    release.insert(release.begin() + 1, resource.begin(), resource.end());
    return tool(release).exit_code == 0;
  }
};

TEST_F(CliAdopt, ACommandRunsUnderTheLockThatAcquirePrinted) {
  const Json lease = acquired({"r", "--fencing"});
  const std::string number = lease.at("fencing_token").dump();
  const auto ran = run({"r"}, token_in(lease), {"--fencing-token", number},
                       "echo $QUORUM_LOCK_RESOURCE $QUORUM_LOCK_TOKEN $QUORUM_LOCK_FENCING_TOKEN");
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(ran.output, "r " + token_in(lease) + " " + number + "\n");
  EXPECT_TRUE(is_free({"r"})) << "it is released when the command ends";
}

TEST_F(CliAdopt, TheTextOfADetachedLeaseSaysAll) {
  Client client = make_client(patient(nodes().urls()));
  const std::string variables = "echo $QUORUM_LOCK_RESOURCE $QUORUM_LOCK_FENCING_TOKEN";
  const auto detached = [&](const Target& target, bool fencing = false) {
    auto lease = client.try_acquire(target, {.ttl = std::chrono::seconds(20), .fencing = fencing});
    EXPECT_TRUE(succeeded(lease));
    return lease ? lease->detach() : DetachedLease();
  };
  const DetachedLease fenced = detached("r", true);
  const auto ran = run({"r"}, fenced.str() + "\n", {}, variables);
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(ran.output, "r " + std::to_string(fenced.fencing_token.value().value()) + "\n");
  const DetachedLease reader = detached(shared("r"));
  const DetachedLease other = detached(shared("r"));
  EXPECT_EQ(run({"r"}, reader.str(), {}, "exit 0").exit_code, 0) << "a reader, by its text";
  EXPECT_EQ(run({"r"}, other.str(), {"--shared"}, "exit 0").exit_code, 0);
  EXPECT_EQ(run({"b", "a"}, detached(all_of({"a", "b"})).str(), {}, "exit 0").exit_code, 0);
  const DetachedLease permit = detached(redlock::permit("r", 2));
  EXPECT_EQ(run({"r"}, permit.str(), {"--permits", "2"}, "exit 0").exit_code, 0);
  const DetachedLease named = detached(redlock::permit("r", 2));
  EXPECT_EQ(run({named.resources.front()}, named.str(), {}, "exit 0").exit_code, 0);
}

TEST_F(CliAdopt, TheTextOfADetachedLeaseMustFitWhatIsNamed) {
  const std::string text = "1,0123456789abcdef0123456789abcdef01234567,7,exclusive,,r";
  const auto refused_for = [&](const ProcessResult& refused, const std::string& why) {
    EXPECT_TRUE(refused_in_one_line(refused, why));
  };
  refused_for(run({"other"}, text, {}, "echo ran"), "--adopt: the text is of a lease on 'r'");
  refused_for(run({"r", "s"}, text, {}, "echo ran"), "--adopt: the text is of a lease on 'r'");
  refused_for(run({"r"}, text, {"--permits", "2"}, "echo ran"), "--adopt: the text is of a lease");
  refused_for(run({"r"}, text, {"--shared"}, "echo ran"), "--adopt: the text is of a lease of");
  refused_for(run({"r"}, text, {"--owner", "me"}, "echo ran"),
              "--adopt: the text is of a lease of");
  refused_for(run({"r"}, text, {"--fencing-token", "7"}, "echo ran"), "--fencing-token: not");
  refused_for(tool({"release", "r", "--token", text}), "--token: this is the text of a detached");
  refused_for(tool({"extend", "r", "--ttl", "9s", "--token", text}), "--token: this is the text");
}

TEST_F(CliAdopt, TheLockIsExtendedAndRenewedWhileTheCommandRuns) {
  const Json lease = acquired({"r"});
  ChildProcess holder = start({"run", "r", "--adopt", token_in(lease), "--ttl", "29s", "--", "sh",
                               "-c", "echo runs; read line; exit 3"});
  ASSERT_TRUE(holder.wait_for_output("runs\n"));
  EXPECT_TRUE(eventually([] { return nodes()[0].pttl("r") > 20'000; }));
  EXPECT_EQ(tool({"acquire", "r"}).exit_code, 75);
  holder.write_input("\n");
  EXPECT_EQ(holder.wait(), ExitStatus{.code = 3});
}

TEST_F(CliAdopt, ALockThatIsGoneIsNotAdopted) {
  const Json lease = acquired({"r"});
  ASSERT_EQ(tool({"release", "r", "--token", token_in(lease)}).exit_code, 0);
  static_cast<void>(acquired({"r", "--name", "the nightly report"}));
  const auto refused = run({"r"}, token_in(lease), {}, "echo ran");
  EXPECT_EQ(refused.exit_code, 76);
  EXPECT_EQ(refused.output, "");
  EXPECT_EQ(count_lines(refused.errors), 1U) << refused.errors;
  EXPECT_THAT(refused.errors, HasSubstr("'r' is not held by this token"));
  EXPECT_THAT(refused.errors, HasSubstr("the nightly report"));
  const auto json = run({"r"}, token_in(lease), {"--json"}, "echo ran");
  EXPECT_EQ(json.exit_code, 76);
  EXPECT_EQ(json_of(json).value("outcome", ""), "not_holder");
}

TEST_F(CliAdopt, WithoutAQuorumItIsUnavailable) {
  const auto refused =
      run_tool({"run", "r", "--adopt", "t", "--timeout", "500ms", "--nodes",
                "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3", "--json", "--", "echo", "ran"});
  EXPECT_EQ(refused.exit_code, 69);
  EXPECT_EQ(json_of(refused).value("outcome", ""), "unavailable");
  EXPECT_EQ(count_lines(refused.errors), 1U) << refused.errors;
}

TEST_F(CliAdopt, AReaderStaysAReader) {
  const Json reader = acquired({"r", "--shared"});
  const Json other = acquired({"r", "--shared"});
  const auto alone = run({"r"}, token_in(reader), {}, "echo ran");
  EXPECT_EQ(alone.exit_code, 76) << "another reader holds it, too: " << alone.output;
  EXPECT_EQ(alone.output, "");
  const auto ran = run({"r"}, token_in(reader), {"--shared"}, "echo ran");
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(ran.output, "ran\n");
  EXPECT_FALSE(is_free({"r"})) << "the other reader";
  EXPECT_EQ(tool({"release", "r", "--token", token_in(other)}).exit_code, 0);
}

TEST_F(CliAdopt, AnOwnersHoldStaysThatOwners) {
  const Json lease = acquired({"r", "--owner", "nightly"});
  EXPECT_EQ(run({"r"}, token_in(lease), {"--owner", "nightly"}, "exit 0").exit_code, 0);
  EXPECT_TRUE(is_free({"r"}));
}

TEST_F(CliAdopt, APermitByItsNameAndAmongAllOfItsSemaphore) {
  const std::string variables = "echo $QUORUM_LOCK_RESOURCE $QUORUM_LOCK_PERMIT";
  const Json first = acquired({"r", "--permits", "2"});
  const Json second = acquired({"r", "--permits", "2"});
  const std::string name = first.value("permit", "");
  const auto by_name = run({name}, token_in(first), {}, variables);
  EXPECT_EQ(by_name.exit_code, 0) << by_name.errors;
  EXPECT_EQ(by_name.output, name + "\n");
  const auto found = run({"r"}, token_in(second), {"--permits", "2"}, variables);
  EXPECT_EQ(found.exit_code, 0) << found.errors;
  EXPECT_EQ(found.output, "r " + second.value("permit", "") + "\n");
  const auto gone = run({"r"}, token_in(second), {"--permits", "2"}, variables);
  EXPECT_EQ(gone.exit_code, 76);
  EXPECT_EQ(count_lines(gone.errors), 1U) << gone.errors;
}

TEST_F(CliAdopt, SeveralResources) {
  const Json lease = acquired({"a", "b"});
  EXPECT_EQ(run({"b", "a"}, token_in(lease), {}, "exit 0").exit_code, 0);
  EXPECT_TRUE(is_free({"a", "b"}));
}

TEST_F(CliAdopt, AnIntervalEndsWithTheCommand) {
  const Json lease = acquired({"r", "--interval", "1h"});
  EXPECT_EQ(run({"r"}, token_in(lease), {}, "exit 0").exit_code, 0);
  EXPECT_TRUE(is_free({"r"}));
}

TEST_F(CliAdopt, DefaultsOfAFileThatMakeNoSenseAreLeftOut) {
  const TempDir directory;
  const std::string file = directory
                               .write("locks.toml",
                                      "[run]\nwait = \"5m\"\nfencing = true\ninterval = \"1h\"\n"
                                      "orphan-ttl = \"1s\"\nname = \"the nightly report\"\n")
                               .string();
  const Json reader = acquired({"r", "--shared"});
  EXPECT_EQ(run({"r"}, token_in(reader), {"--config", file, "--shared"}, "exit 0").exit_code, 0);
}

TEST_F(CliAdopt, WhatMakesNoSenseIsOneLineAnd64) {
  const std::vector<Words> wrong = {{"--wait", "1s"},
                                    {"--name", "me"},
                                    {"--orphan-ttl", "1s"},
                                    {"--interval", "1s"},
                                    {"--fencing"},
                                    {"--adopt", "t"},
                                    {"--fencing-token", "0"},
                                    {"--fencing-token", "9007199254740992"},
                                    {"--fencing-token", "7", "--shared"},
                                    {"--fencing-token", "7", "--permits", "2"}};
  for (const Words& more : wrong) {
    EXPECT_TRUE(refused_in_one_line(run({"r"}, "t", more, "echo ran"),
                                    "quorum-lock: " + more.front() + ":"));
  }
  const auto blank = run({"r"}, "t t", {}, "echo ran");
  EXPECT_EQ(blank.exit_code, 64);
  EXPECT_EQ(blank.errors, "quorum-lock: --adopt: has a blank: none is allowed\n");
  const auto number = tool({"run", "r", "--fencing-token", "7", "--", "true"});
  EXPECT_EQ(number.exit_code, 64);
  EXPECT_THAT(number.errors, HasSubstr("--fencing-token: only with --adopt"));
}

}  // namespace
}  // namespace redlock::test
