// The limits of a hostile server in time and memory: it cannot make the client grow, or find a byte
// of the handshake after which hanging up is more than an outage.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "integration/library.hpp"
#include "support/allocated.hpp"
#include "support/fake_server.hpp"

namespace redlock::test {
namespace {

/// The most bytes that a client may need for a few connections and for the bytes that the fake
/// server is about to send.
constexpr std::size_t most_growth = 32 * 1024 * 1024;

/// An answer to INFO that never ends, whatever else was asked in the same write.
[[nodiscard]] CommandHandler endless_from_info(const std::string& first) {
  return [first, pouring = std::make_shared<bool>(false)](const Command& command) -> FakeAnswer {
    const std::string filler(65536, 'x');
    if (command.at(0) == "CLIENT" && command.at(1) == "ID") {
      *pouring = false;  // another connection
      return resp::integer(1);
    }
    if (command.at(0) == "INFO") {
      *pouring = true;
      return FakeAnswer::endless(first, filler);
    }
    return *pouring ? FakeAnswer::endless("", filler) : FakeAnswer(resp::status("OK"));
  };
}

class HostileLimits : public testing::TestWithParam<const char*> {};

TEST_P(HostileLimits, AnEndlessReplyDoesNotMakeTheClientGrow) {
  FakeServer fake(endless_from_info(GetParam()));
  EventLog log;
  auto options = of_fakes({fake.url()});
  options.on_node_event = log.listener();
  const std::size_t before = allocated_bytes();
  const Client client = make_client(options);
  // Each connection takes in as much as is accepted, and keeps nothing of it.
  for (std::size_t times = 1; times <= 8; ++times) {
    ASSERT_TRUE(log.wait_for(NodeEvent::Kind::protocol, 0, times));
    EXPECT_LT(allocated_bytes(), before + most_growth) << times;
  }
}

TEST_P(HostileLimits, AnEndlessReplyToACheckEndsIt) {
  FakeServer fake(endless_from_info(GetParam()));
  const std::size_t before = allocated_bytes();
  const auto check = admin::check(patient({fake.url()}));
  EXPECT_LT(allocated_bytes(), before + most_growth);
  ASSERT_TRUE(succeeded(check));
  EXPECT_FALSE(check->nodes.at(0).reachable);
  const std::string& problem = check->nodes.at(0).problem;
  EXPECT_TRUE(problem.starts_with("protocol violation: ")) << problem;
}

INSTANTIATE_TEST_SUITE_P(Replies, HostileLimits,
                         testing::Values("$1048576\r\n", "$9000000000\r\n", "+", "-", ":",
                                         "*64\r\n$1000000\r\n"),
                         [](const auto& tested) {
                           return "Number" + std::to_string(tested.index);
                         });

class HostileHandshake : public testing::Test {
 protected:
  /// The marker of a deployment with this one node, whatever its address is.
  static constexpr const char* marker = "redlock3 active i D abc abc 30000 volatile a a - 1";
  static std::string guard_answer() {
    return resp::array({resp::bulk(marker), resp::integer(0), resp::bulk("")});
  }

  /// Hangs up after each byte of the answer to `word` in turn. After the last one, all is well.
  void hang_up_everywhere(const std::string& word, const std::string& answer) {
    FakeServer fake;
    fake.on("EVAL", [](const Command&) { return guard_answer(); });
    // The marker that follows each vote is the one of the handshake.
    fake.on("GET", [](const Command&) { return resp::bulk(marker); });
    std::atomic<std::size_t> bytes{0};
    fake.on(word, [&](const Command&) -> FakeAnswer {
      if (bytes < answer.size()) return FakeAnswer::close(answer.substr(0, bytes));
      return answer;
    });
    auto options = patient({fake.url()});
    for (; bytes < answer.size(); ++bytes) {
      Client client = make_client(options);
      auto refused = client.try_acquire("r");
      ASSERT_TRUE(failed_with(refused, Errc::unavailable)) << word << " " << bytes;
      EXPECT_EQ(refused.error().round.nodes.at(0).vote, Vote::unreachable) << word << " " << bytes;
    }
    Client client = make_client(options);
    EXPECT_TRUE(succeeded(client.try_acquire("r"))) << word;
  }
};

TEST_F(HostileHandshake, ClosingAtEveryByteOfEveryAnswerIsOnlyAnOutage) {
  hang_up_everywhere("CLIENT ID", resp::integer(1234));
  hang_up_everywhere("INFO", resp::bulk("redis_version:7.0.15\r\nrun_id:abc\r\nrole:master\r\n"));
  hang_up_everywhere("CLIENT SETNAME", resp::status("OK"));
  hang_up_everywhere("SCRIPT LOAD", resp::bulk(std::string(40, 'a')));
  hang_up_everywhere("EVAL", guard_answer());
}

TEST_F(HostileHandshake, ClosingAtEveryByteOfEveryAnswerEndsACheck) {
  const std::string info = resp::bulk("redis_version:7.0.15\r\nrun_id:abc\r\nrole:master\r\n");
  for (const auto& [word, answer] : {std::pair<std::string, std::string>{"INFO", info},
                                     {"CONFIG", resp::array({})},
                                     {"GET", resp::bulk("abc 3 30000")},
                                     {"PTTL", resp::integer(-2)},
                                     {"TIME", resp::array({resp::bulk("17"), resp::bulk("4")})}}) {
    for (std::size_t bytes = 0; bytes < answer.size(); ++bytes) {
      FakeServer fake;
      fake.on(word, [part = answer.substr(0, bytes)](const Command&) -> FakeAnswer {
        return FakeAnswer::close(part);
      });
      const auto check = admin::check(patient({fake.url()}));
      ASSERT_TRUE(succeeded(check)) << word << " " << bytes;
      EXPECT_FALSE(check->nodes.at(0).reachable) << word << " " << bytes;
    }
  }
}

TEST_F(HostileHandshake, ALockThatNoSearchAskedForIsAViolation) {
  for (const char* page :
       {"*3\r\n$1\r\n0\r\n$4\r\nlock\r\n:9223372036854775807\r\n", "*3\r\n$1\r\n0\r\n*0\r\n+x\r\n",
        "*3\r\n$1\r\n0\r\n$4\r\nlock\r\n:-1\r\n", "*2\r\n$1\r\n0\r\n:1\r\n", "+OK\r\n"}) {
    FakeServer fake;
    fake.on("EVAL", [page](const Command&) { return page; });
    const auto opened = admin::bootstrap(patient({fake.url()}));
    ASSERT_TRUE(failed_with(opened, Errc::unavailable)) << page;
    EXPECT_NE(opened.error().message.find("protocol violation"), std::string::npos)
        << opened.error().message;
  }
}

}  // namespace
}  // namespace redlock::test
