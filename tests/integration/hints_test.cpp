// P5, its first half: who gives a lock up tells who listens, and who listens does not ask again and
// again.

#include <gtest/gtest.h>

#include <future>
#include <string>

#include "integration/library.hpp"
#include "redis/encoder.hpp"
#include "support/resp_client.hpp"

namespace redlock::test {
namespace {

using core::ScriptForm;
using core::Verb;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// How often a server executed a command, by itself or in a script.
std::int64_t calls(const RedisServer& server, const std::string& command) {
  const std::string info = server.command({"INFO", "commandstats"}).string;
  const std::string name = "cmdstat_" + command + ":calls=";
  const std::size_t at = info.find(name);
  return at == std::string::npos ? 0 : std::stoll(info.substr(at + name.size()));
}

class ReleaseScript : public testing::Test {
 protected:
  void SetUp() override { server_.command({"FLUSHALL"}); }

  static std::string encoded(Verb verb, const std::string& resource, const std::string& token,
                             const redis::Terms& terms = {}) {
    redis::Encoder encoder;
    return std::string(encoder.encode(verb, ScriptForm::text, redis::SetForm::plain, resource,
                                      token.empty() ? Token() : Token::parse(token).value(),
                                      seconds(60), 0, terms));
  }
  Reply release(const std::string& token, const redis::Terms& terms = {}) {
    client_.send_raw(encoded(Verb::release, "r", token, terms));
    return client_.read();
  }
  void mark() {
    client_.send_raw(encoded(Verb::ask_to_tell, "", ""));
    ASSERT_TRUE(client_.read().is_ok());
    ASSERT_TRUE(client_.read().is_ok());
  }
  void listen(const std::string& resource) {
    ASSERT_EQ(ear_.call({"SUBSCRIBE", "redlock:free:" + resource}).elements.size(), 3U);
  }
  [[nodiscard]] std::string heard() {
    const Reply message = ear_.read();
    return message.elements.size() == 3 ? message.elements[1].string : "nothing";
  }
  void hold(const std::string& resource, const std::string& token) {
    ASSERT_TRUE(client_.call({"SET", resource, token, "PX", "60000"}).is_ok());
  }

  RedisServer server_;
  RespClient client_ = RespClient::unix_socket(server_.unix_path());
  RespClient ear_ = RespClient::unix_socket(server_.unix_path());
};

TEST_F(ReleaseScript, TellsWhoListens) {
  listen("r");
  mark();
  for (int i = 0; i < 2; ++i) {
    hold("r", "me");
    EXPECT_EQ(release("me").integer, 1);
    EXPECT_EQ(heard(), "redlock:free:r");
    EXPECT_EQ(server_.get("r"), std::nullopt);
  }
}

TEST_F(ReleaseScript, TellsNobodyWhereNobodyAsked) {
  const auto before = calls(server_, "publish");
  hold("r", "me");
  EXPECT_EQ(release("me").integer, 1);
  EXPECT_EQ(calls(server_, "publish"), before);
}

TEST_F(ReleaseScript, TellsNobodyAnyMoreWhenNobodyWaits) {
  mark();
  server_.command({"DEL", "redlock:node:waiters"});
  const auto before = calls(server_, "publish");
  for (int i = 0; i < 3; ++i) {
    hold("r", "me");
    EXPECT_EQ(release("me").integer, 1);
  }
  EXPECT_EQ(calls(server_, "publish"), before + 1) << "the first found the mark";
}

TEST_F(ReleaseScript, DoesNotTellOfWhatItDoesNotGiveUp) {
  mark();
  const auto before = calls(server_, "publish");
  hold("r", "another");
  EXPECT_EQ(release("me").integer, -1);
  hold("r", "me");
  EXPECT_EQ(release("me", {.cooldown = seconds(60)}).integer, 1);
  EXPECT_EQ(calls(server_, "publish"), before);
  EXPECT_EQ(server_.get("redlock:node:awaited"), "");
}

TEST_F(ReleaseScript, TellsOfEachOfSeveralResources) {
  listen("r");
  mark();
  listen("s");
  hold("r", "me");
  hold("s", "me");
  const std::vector<std::string> also{"s"};
  EXPECT_EQ(release("me", {.also = also}).integer, 1);
  EXPECT_EQ(heard(), "redlock:free:r");
  EXPECT_EQ(heard(), "redlock:free:s");
}

TEST_F(ReleaseScript, TellsOfEveryHoldThatIsGivenUp) {
  listen("r");
  mark();
  for (const std::string token : {"a", "b"}) {
    client_.send_raw(encoded(Verb::enter, "r", token, {.group = "shared"}));
    ASSERT_EQ(client_.read().elements.size(), 2U);
  }
  EXPECT_EQ(release("a").elements.at(1).integer, 1);
  EXPECT_EQ(heard(), "redlock:free:r");
  EXPECT_EQ(release("b").elements.at(1).integer, 0);
  EXPECT_EQ(heard(), "redlock:free:r");
}

TEST_F(ReleaseScript, ReleasesAllTheSameWhereItMayTellNothing) {
  server_.command({"ACL", "SETUSER", "narrow", "on", ">pw", "~r", "+@all", "resetchannels"});
  mark();
  RespClient narrow = RespClient::unix_socket(server_.unix_path());
  ASSERT_TRUE(narrow.call({"AUTH", "narrow", "pw"}).is_ok());
  hold("r", "me");
  narrow.send_raw(encoded(Verb::release, "r", "me"));
  EXPECT_EQ(narrow.read().integer, 1);
  EXPECT_EQ(server_.get("r"), std::nullopt);
}

class Hints : public testing::Test {
 protected:
  [[nodiscard]] auto in_background(std::chrono::nanoseconds wait) {
    return std::async(std::launch::async,
                      [this, wait] { return waiter_.acquire(resource_, {.wait = wait}); });
  }
  [[nodiscard]] bool all_are_listened_to() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Reply count =
          nodes_[i].command({"PUBSUB", "NUMSUB", "redlock:free:" + std::string(resource_)});
      if (count.elements.at(1).integer == 0) return false;
    }
    return true;
  }
  [[nodiscard]] std::int64_t looks() { return calls(nodes_[0], "set"); }

  Nodes nodes_{3};
  Client holder_ = make_client(patient(nodes_.urls()));
  Client waiter_ = make_client(patient(nodes_.urls()));
  std::string resource_ = "r";
};

TEST_F(Hints, WhoWaitsHardlyAsks) {
  auto lease = holder_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  auto waiting = in_background(forever);
  ASSERT_TRUE(eventually([&] { return all_are_listened_to(); }));
  // A look once the nodes tell, and then one in more than two seconds.
  EXPECT_TRUE(eventually([&] {
    const auto before = looks();
    std::this_thread::sleep_for(seconds(1));
    return looks() - before <= 1;
  }));
  ASSERT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(succeeded(waiting.get()));
  EXPECT_GE(calls(nodes_[0], "publish"), 1);
}

TEST_F(Hints, ServeAllWhoWaitInOneProcess) {
  auto lease = holder_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  constexpr int waiters = 8;
  std::vector<std::future<Result<Lease>>> waiting;
  for (int i = 0; i < waiters; ++i) waiting.push_back(in_background(forever));
  ASSERT_TRUE(eventually([&] { return all_are_listened_to(); }));
  ASSERT_TRUE(succeeded(lease->release()));
  int served = 0;
  while (served < waiters) {
    for (auto& one : waiting) {
      if (!one.valid() || one.wait_for(seconds(0)) != std::future_status::ready) continue;
      auto mine = one.get();
      ASSERT_TRUE(succeeded(mine));
      ++served;
      ASSERT_TRUE(succeeded(mine->release()));
    }
    std::this_thread::yield();
  }
}

TEST_F(Hints, AreDoneWithoutWhereTheyAreForbidden) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].command({"ACL", "SETUSER", "default", "-subscribe"});
  }
  auto lease = holder_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  auto waiting = in_background(forever);
  EXPECT_TRUE(eventually([&] { return looks() > 20; })) << "it looks again and again instead";
  ASSERT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(succeeded(waiting.get()));
}

TEST_F(Hints, WakeAWaiterOverDeadNodesAndANodeThatCameBack) {
  auto lease = holder_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(eventually([&] { return nodes_.count_held_by("r", lease->token().str()) == 3; }));
  auto waiting = in_background(forever);
  ASSERT_TRUE(eventually([&] { return all_are_listened_to(); }));
  nodes_[0].kill();
  ASSERT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(succeeded(waiting.get()));
}

TEST_F(Hints, FollowAWriterAndItsReaders) {
  auto writer = holder_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(writer));
  const auto read = [&] {
    return waiter_.acquire(resource_, {.ttl = seconds(30), .wait = forever, .shared = true});
  };
  auto first = std::async(std::launch::async, read);
  auto second = std::async(std::launch::async, read);
  ASSERT_TRUE(eventually([&] { return all_are_listened_to(); }));
  ASSERT_TRUE(succeeded(writer->release()));
  auto a = first.get();
  auto b = second.get();
  ASSERT_TRUE(succeeded(a));
  ASSERT_TRUE(succeeded(b));
  auto next = std::async(std::launch::async, [&] {
    return holder_.acquire(resource_, {.ttl = seconds(30), .wait = forever});
  });
  ASSERT_TRUE(succeeded(a->release()));
  ASSERT_TRUE(succeeded(b->release()));
  EXPECT_TRUE(succeeded(next.get()));
}

}  // namespace
}  // namespace redlock::test
