// A connection whose server reports that it lost its data (see Handshake).

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "redis/batches/encoder.hpp"
#include "redis/connection/connection.hpp"
#include "support/encoding.hpp"
#include "support/fake_server.hpp"
#include "support/redis_connection.hpp"
#include "support/resp.hpp"

namespace redlock::redis {
namespace {

using core::Reply;
using core::Verb;
using test::Command;
namespace resp = test::resp;

const std::string flushed = ">2\r\n$10\r\ninvalidate\r\n_\r\n";
const std::string hello =
    "%3\r\n$5\r\nproto\r\n:3\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n";

class TrackingConnection : public testing::Test {
 protected:
  TrackingConnection() {
    answer("HELLO", hello);
    answer("CLIENT TRACKING", resp::status("OK"));
    answer("EVAL", resp::array({resp::bulk("marker"), resp::integer(0), resp::bulk("")}));
    answer("GET", resp::bulk("marker"));
  }
  void answer(const std::string& word, const std::string& bytes) {
    server_.on(word, [bytes](const Command&) -> test::FakeAnswer { return bytes; });
  }
  void connect(bool guarded = true) {
    ConnectionTarget target = tcp_target(server_.port());
    if (guarded) target.guard = RestartGuard{.name = "redis://a", .incarnation = "fresh"};
    connection_ = std::make_unique<Connection>(loop_.get(), target, owner_);
    connection_->open();
    ASSERT_TRUE(run_until(loop_, [&] { return owner_.ready || owner_.downs > 0; }));
  }
  void ask(Verb verb) {
    Encoder encoder;
    connection_->send(test::encode(encoder, verb, core::ScriptForm::digest, connection_->dialect(),
                                   "r", Token::parse("me").value(), std::chrono::seconds(1), 1),
                      core::Stamp(verb));
    connection_->flush();
  }
  void expect_end(const std::string& why) {
    ASSERT_TRUE(run_until(loop_, [&] { return owner_.downs > 0; }));
    EXPECT_EQ(owner_.cause, core::NodeDown::Cause::error);
    EXPECT_EQ(owner_.protocol_error, ProtocolError::none) << owner_.why;
    EXPECT_NE(owner_.why.find(why), std::string::npos) << owner_.why;
  }

  test::FakeServer server_;
  uv::Loop loop_;
  Recorder owner_;
  std::unique_ptr<Connection> connection_;
};

TEST_F(TrackingConnection, EndsWhenTheServerWasFlushed) {
  connect();
  ASSERT_TRUE(owner_.ready) << owner_.why;
  server_.push(flushed);
  expect_end("flushed");
}

TEST_F(TrackingConnection, EndsAheadOfTheAnswersThatComeBehind) {
  connect();
  answer("SET", "_\r\n" + flushed + "_\r\n");
  ask(Verb::set);
  ask(Verb::set);
  expect_end("flushed");
  EXPECT_EQ(owner_.answers.size(), 1U);
}

TEST_F(TrackingConnection, EndsBetweenTheAnswersOfOneRequest) {
  connect();
  server_.set_chunk(1);
  answer("SET", resp::bulk("holder") + flushed);
  answer("PTTL", resp::integer(100));
  ask(Verb::set_and_ttl);
  expect_end("flushed");
  EXPECT_TRUE(owner_.answers.empty());
}

TEST_F(TrackingConnection, EndsWhileItShakesHands) {
  answer("HELLO", hello + flushed);
  connect();
  EXPECT_FALSE(owner_.ready);
  expect_end("flushed");
}

TEST_F(TrackingConnection, GoesOnWhenTheServerSaysAnythingElseUnasked) {
  connect();
  answer("SET", ">1\r\n+other\r\n>3\r\n+a\r\n*0\r\n_\r\n_\r\n");
  ask(Verb::set);
  ASSERT_TRUE(run_until(loop_, [&] { return !owner_.answers.empty() || owner_.downs > 0; }));
  ASSERT_EQ(owner_.answers.size(), 1U) << owner_.why;
  EXPECT_EQ(owner_.answers[0].reply, Reply::granted);
}

TEST_F(TrackingConnection, ReadsNullsAndDoubles) {
  server_.set_chunk(3);
  connect();
  answer("SET", "_\r\n");
  answer("ZMSCORE", "*2\r\n,1790000000123456\r\n,1.7e+15\r\n");
  answer("ZADD", ":1\r\n");
  answer("GET", resp::bulk("me"));
  ask(Verb::set_fenced);
  ASSERT_TRUE(run_until(loop_, [&] { return !owner_.answers.empty() || owner_.downs > 0; }));
  ASSERT_EQ(owner_.answers.size(), 1U) << owner_.why;
  EXPECT_EQ(owner_.answers[0].reply, Reply::granted);
}

TEST_F(TrackingConnection, WorksWithServersThatKnowNothingOfIt) {
  server_.forget("HELLO");
  server_.forget("CLIENT TRACKING");
  connect();
  ASSERT_TRUE(owner_.ready) << owner_.why;
  EXPECT_EQ(server_.count("HELLO"), 1U);
}

TEST_F(TrackingConnection, IsNotAskedForWithoutTheGuard) {
  connect(false);
  ASSERT_TRUE(owner_.ready) << owner_.why;
  EXPECT_EQ(server_.count("HELLO"), 0U);
  EXPECT_EQ(server_.count("CLIENT TRACKING"), 0U);
  server_.push(flushed);
  ASSERT_TRUE(run_until(loop_, [&] { return owner_.downs > 0; }));
  EXPECT_EQ(owner_.protocol_error, ProtocolError::violation);
}

}  // namespace
}  // namespace redlock::redis
