#include "redis/connection/subscriber.hpp"

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

const std::string channel = "redlock:wake:me";

std::string message(const std::string& text, const std::string& where = channel) {
  return resp::array({resp::bulk("message"), resp::bulk(where), resp::bulk(text)});
}
std::string subscribed(const std::string& where = channel) {
  return resp::array({resp::bulk("subscribe"), resp::bulk(where), resp::integer(1)});
}

struct Listener final : SubscriberOwner {
  void on_subscribed() noexcept override { ++listening; }
  void on_notified(std::string_view resource, std::uint32_t before) noexcept override {
    notifications.push_back(std::to_string(before) + " " + std::string(resource));
    if (on_first) on_first();
  }
  void on_unsubscribed(std::string_view what) noexcept override {
    ++ends;
    why = what;
  }
  int listening = 0;
  std::vector<std::string> notifications;
  std::function<void()> on_first;
  int ends = 0;
  std::string why;
};

class SubscriberToFake : public testing::Test {
 protected:
  SubscriberToFake() {
    server_.on("SUBSCRIBE", [](const test::Command& command) -> test::FakeAnswer {
      return subscribed(command.at(1));
    });
  }
  void open() { open_as(tcp_target(server_.port())); }
  void open_as(ConnectionTarget target) {
    subscriber_ = std::make_unique<Subscriber>(loop_.get(), std::move(target), "me", owner_);
    subscriber_->open();
  }
  void answer_subscribe(const std::string& bytes) {
    server_.on("SUBSCRIBE", [bytes](const test::Command&) -> test::FakeAnswer { return bytes; });
  }
  [[nodiscard]] bool listens() {
    return run_until(loop_, [&] { return owner_.listening > 0; });
  }
  [[nodiscard]] bool ended() {
    return run_until(loop_, [&] { return owner_.ends > 0; });
  }

  FakeServer server_;
  uv::Loop loop_;
  Listener owner_;
  std::unique_ptr<Subscriber> subscriber_;
};

TEST_F(SubscriberToFake, ReportsEachNotification) {
  open();
  ASSERT_TRUE(listens());
  server_.push(message("0b c") + message("1a"));
  ASSERT_TRUE(run_until(loop_, [&] { return owner_.notifications.size() == 2; }));
  EXPECT_EQ(owner_.notifications, (std::vector<std::string>{"0 b c", "1 a"}));
  EXPECT_EQ(owner_.ends, 0);
}

TEST_F(SubscriberToFake, SaysWhoItIsFirst) {
  ConnectionTarget target = tcp_target(server_.port());
  target.user = "me";
  target.password = "secret";
  server_.on("AUTH", [](const test::Command&) -> test::FakeAnswer { return resp::status("OK"); });
  open_as(target);
  ASSERT_TRUE(listens());
  EXPECT_EQ(server_.commands().front(), (test::Command{"AUTH", "me", "secret"}));
}

TEST_F(SubscriberToFake, EndsWhereItIsRefused) {
  answer_subscribe(resp::error("NOPERM this user has no permissions to access a channel"));
  open();
  ASSERT_TRUE(ended());
  EXPECT_TRUE(owner_.why.starts_with("NOPERM")) << owner_.why;
  EXPECT_TRUE(subscriber_->closed());
}

TEST_F(SubscriberToFake, DoesNotRepeatAPassword) {
  ConnectionTarget target = tcp_target(server_.port());
  target.password = "secret";
  server_.on("AUTH", [](const test::Command&) -> test::FakeAnswer {
    return resp::error("ERR AUTH secret: no password is set");
  });
  open_as(target);
  ASSERT_TRUE(ended());
  EXPECT_EQ(owner_.why.find("secret"), std::string::npos) << owner_.why;
}

TEST_F(SubscriberToFake, EndsWithTheConnection) {
  open();
  ASSERT_TRUE(listens());
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
    EXPECT_TRUE(ended());
    EXPECT_EQ(owner_.listening, 0);
  }
}

TEST_F(SubscriberToFake, IgnoresWhatItCanNotUse) {
  open();
  ASSERT_TRUE(listens());
  server_.push(message("0a", "news") + message("") + message("a") +
               resp::array({resp::bulk("message"), resp::integer(1), resp::nil()}) + message("0b"));
  ASSERT_TRUE(run_until(loop_, [&] { return !owner_.notifications.empty(); }));
  EXPECT_EQ(owner_.notifications, std::vector<std::string>{"0 b"});
}

TEST_F(SubscriberToFake, MayBeDestroyedInACall) {
  open();
  owner_.on_first = [&] { subscriber_.reset(); };
  ASSERT_TRUE(listens());
  server_.push(message("0a") + message("0a"));
  ASSERT_TRUE(run_until(loop_, [&] { return !subscriber_; }));
  EXPECT_EQ(owner_.notifications.size(), 1U);
}

}  // namespace
}  // namespace redlock::redis
