#include "redis/subscriber.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "support/fake_server.hpp"
#include "support/redis_connection.hpp"
#include "support/resp.hpp"

namespace redlock::redis {
namespace {

using test::FakeServer;
namespace resp = test::resp;

std::string told(const std::string& kind, const std::string& channel) {
  return resp::array({resp::bulk(kind), resp::bulk(channel),
                      kind == "message" ? resp::bulk("") : resp::integer(1)});
}

struct Listener final : SubscriberOwner {
  void on_telling(std::string_view resource) noexcept override { telling.emplace_back(resource); }
  void on_hint(std::string_view resource) noexcept override {
    hints.emplace_back(resource);
    if (on_first) on_first();
  }
  void on_deaf(std::string_view what) noexcept override {
    ++ends;
    why = what;
  }
  std::vector<std::string> telling;
  std::vector<std::string> hints;
  std::function<void()> on_first;
  int ends = 0;
  std::string why;
};

class SubscriberToFake : public testing::Test {
 protected:
  SubscriberToFake() {
    server_.on("SUBSCRIBE", [](const test::Command& command) -> test::Answer {
      return told("subscribe", command.at(1));
    });
  }
  void open() { open_as(tcp_target(server_.port())); }
  void open_as(ConnectionTarget target) {
    subscriber_ = std::make_unique<Subscriber>(loop_.get(), std::move(target), owner_);
    subscriber_->open();
  }
  void answer_subscribe(const std::string& bytes) {
    server_.on("SUBSCRIBE", [bytes](const test::Command&) -> test::Answer { return bytes; });
  }
  [[nodiscard]] bool ended() {
    return run_until(loop_, [&] { return owner_.ends > 0; });
  }

  FakeServer server_;
  uv::Loop loop_;
  Listener owner_;
  std::unique_ptr<Subscriber> subscriber_;
};

TEST_F(SubscriberToFake, TellsWhatItIsTold) {
  open();
  subscriber_->listen("a");
  subscriber_->listen("b c");
  ASSERT_TRUE(run_until(loop_, [&] { return owner_.telling.size() == 2; }));
  EXPECT_EQ(owner_.telling, (std::vector<std::string>{"a", "b c"}));
  server_.push(told("message", "redlock:free:b c"));
  ASSERT_TRUE(run_until(loop_, [&] { return !owner_.hints.empty(); }));
  EXPECT_EQ(owner_.hints.front(), "b c");
  EXPECT_EQ(owner_.ends, 0);
}

TEST_F(SubscriberToFake, SaysWhoItIsFirst) {
  ConnectionTarget target = tcp_target(server_.port());
  target.user = "me";
  target.password = "secret";
  server_.on("AUTH", [](const test::Command&) -> test::Answer { return resp::status("OK"); });
  open_as(target);
  subscriber_->listen("a");
  ASSERT_TRUE(run_until(loop_, [&] { return !owner_.telling.empty(); }));
  EXPECT_EQ(server_.commands().front(), (test::Command{"AUTH", "me", "secret"}));
}

TEST_F(SubscriberToFake, EndsWhereItIsRefused) {
  answer_subscribe(resp::error("NOPERM this user has no permissions to access a channel"));
  open();
  subscriber_->listen("a");
  ASSERT_TRUE(ended());
  EXPECT_TRUE(owner_.why.starts_with("NOPERM")) << owner_.why;
  EXPECT_TRUE(subscriber_->closed());
}

TEST_F(SubscriberToFake, DoesNotRepeatAPassword) {
  ConnectionTarget target = tcp_target(server_.port());
  target.password = "secret";
  server_.on("AUTH", [](const test::Command&) -> test::Answer {
    return resp::error("ERR AUTH secret: no password is set");
  });
  open_as(target);
  ASSERT_TRUE(ended());
  EXPECT_EQ(owner_.why.find("secret"), std::string::npos) << owner_.why;
}

TEST_F(SubscriberToFake, EndsWithTheConnection) {
  open();
  subscriber_->listen("a");
  ASSERT_TRUE(run_until(loop_, [&] { return !owner_.telling.empty(); }));
  server_.reset_connections();
  ASSERT_TRUE(ended());
  EXPECT_EQ(owner_.ends, 1);
}

TEST_F(SubscriberToFake, EndsOverWhatIsNoAnswerToIt) {
  const std::vector<std::string> answers{
      resp::integer(1),
      resp::status("OK"),
      resp::nil(),
      resp::array({}),
      resp::array({resp::bulk("subscribe")}),
      resp::array({resp::integer(1), resp::integer(2), resp::integer(3)}),
      "!\r\n",
      "$999999999999\r\n",
  };
  for (const std::string& answer : answers) {
    SCOPED_TRACE(answer);
    owner_ = {};
    answer_subscribe(answer);
    open();
    subscriber_->listen("a");
    EXPECT_TRUE(ended());
    EXPECT_TRUE(owner_.telling.empty());
  }
}

TEST_F(SubscriberToFake, IgnoresWhatIsToldOfOtherChannels) {
  open();
  subscriber_->listen("a");
  ASSERT_TRUE(run_until(loop_, [&] { return !owner_.telling.empty(); }));
  server_.push(told("message", "news") + told("punsubscribe", "redlock:free:a") +
               resp::array({resp::bulk("message"), resp::integer(1), resp::nil()}) +
               told("message", "redlock:free:a"));
  ASSERT_TRUE(run_until(loop_, [&] { return !owner_.hints.empty(); }));
  EXPECT_EQ(owner_.hints, std::vector<std::string>{"a"});
}

TEST_F(SubscriberToFake, MayBeDestroyedInACall) {
  open();
  subscriber_->listen("a");
  owner_.on_first = [&] { subscriber_.reset(); };
  ASSERT_TRUE(run_until(loop_, [&] { return !owner_.telling.empty(); }));
  server_.push(told("message", "redlock:free:a") + told("message", "redlock:free:a"));
  ASSERT_TRUE(run_until(loop_, [&] { return !subscriber_; }));
  EXPECT_EQ(owner_.hints.size(), 1U);
}

}  // namespace
}  // namespace redlock::redis
