#include "redis/connection/connection.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "redis/batches/encoder.hpp"
#include "redis/handshake/loaded_scripts.hpp"
#include "redlock/limits.hpp"
#include "support/encoding.hpp"
#include "support/fake_server.hpp"
#include "support/redis_connection.hpp"
#include "support/resp.hpp"

namespace redlock::redis {
namespace {

using core::NodeDown;
using core::Reply;
using core::Stamp;
using core::Verb;
using test::FakeServer;

Stamp stamp_of(Verb verb, std::uint16_t round = 0) { return {verb, {}, round}; }

class ConnectionToFake : public testing::Test {
 protected:
  void connect() {
    connection_ = std::make_unique<Connection>(loop_.get(), tcp_target(server_.port()), owner_);
    connection_->open();
  }
  void connect_until_ready() {
    connect();
    ASSERT_TRUE(run_until(loop_, [&] { return owner_.ready || owner_.downs > 0; }));
    ASSERT_TRUE(owner_.ready) << owner_.why;
  }
  void ask(Verb verb, std::uint16_t round = 0) {
    Encoder encoder;
    connection_->send(test::encode(encoder, verb, core::ScriptForm::digest, connection_->dialect(),
                                   "r", Token::parse("me").value(), std::chrono::seconds(1), 1),
                      stamp_of(verb, round));
  }
  bool down() {
    return run_until(loop_, [&] { return owner_.downs > 0; });
  }
  bool answered(std::size_t count) {
    return run_until(loop_, [&] { return owner_.answers.size() >= count || owner_.downs > 0; }) &&
           owner_.answers.size() == count;
  }
  void expect_violation() {
    ASSERT_TRUE(down());
    EXPECT_EQ(owner_.protocol_error, ProtocolError::violation);
    EXPECT_EQ(owner_.cause, NodeDown::Cause::error);
    EXPECT_TRUE(owner_.why.starts_with("protocol violation: ")) << owner_.why;
    EXPECT_EQ(connection_->state(), Connection::State::closed);
  }

  FakeServer server_;
  uv::Loop loop_;
  Recorder owner_;
  std::unique_ptr<Connection> connection_;
};

TEST_F(ConnectionToFake, IsReadyWhenTheServerHasIdentifiedItself) {
  connect_until_ready();
  EXPECT_EQ(owner_.ready->run_id, "0123456789abcdef0123456789abcdef01234567");
  EXPECT_EQ(owner_.ready->version, "7.0.15");
  EXPECT_GT(owner_.ready->connection_id, 0);
  EXPECT_EQ(connection_->dialect(), Dialect::with_get);
  EXPECT_TRUE(connection_->ready());
  EXPECT_EQ(server_.count("SCRIPT LOAD"), loaded_scripts.size());
}

TEST_F(ConnectionToFake, AnOlderServerIsAskedInThePlainForm) {
  test::FakeRedis old;
  old.version = "6.2.7";
  server_.imitate(old);
  connect_until_ready();
  EXPECT_EQ(connection_->dialect(), Dialect::classic);
}

TEST_F(ConnectionToFake, MatchesAnswersWithTheirStampsInOrder) {
  server_.on("SET", [](const test::Command& command) -> test::FakeAnswer {
    return command.size() > 6 ? test::resp::bulk("holder") : test::resp::nil();
  });
  server_.on("PTTL",
             [](const test::Command&) -> test::FakeAnswer { return test::resp::integer(250); });
  server_.on("EVALSHA",
             [](const test::Command&) -> test::FakeAnswer { return test::resp::integer(0); });
  connect_until_ready();
  for (std::uint16_t round = 0; round < 300; ++round) {
    ask(round % 3 == 0 ? Verb::set : round % 3 == 1 ? Verb::set_and_ttl : Verb::release, round);
  }
  EXPECT_EQ(connection_->unanswered(), 300U);
  connection_->flush();
  ASSERT_TRUE(answered(300)) << owner_.why;
  for (std::uint16_t round = 0; round < 300; ++round) {
    const Recorder::Answered& answer = owner_.answers[round];
    EXPECT_EQ(answer.stamp.round(), round);
    EXPECT_EQ(answer.reply, round % 3 == 2 ? Reply::gone : Reply::taken);
    EXPECT_EQ(answer.text, round % 3 == 2 ? "" : "holder");
    EXPECT_EQ(answer.remaining.has_value(), round % 3 == 1);
  }
  EXPECT_EQ(connection_->unanswered(), 0U);
  EXPECT_EQ(connection_->unsent(), 0U);
}

TEST_F(ConnectionToFake, ReadsEachMarkerWhetherOrNotItIsTheOneBefore) {
  const std::vector<std::string> markers{"one", "one", "another", "another", "", "another", "an"};
  std::size_t next = 0;
  server_.on("GET", [&](const test::Command&) -> test::FakeAnswer {
    return test::resp::bulk(markers.at(next++));
  });
  connect_until_ready();
  next = 0;
  for (std::uint16_t round = 0; round < markers.size(); ++round) {
    ask(Verb::set, round);
    ask(Verb::read_marker, round);
    // An unchanged marker is recognised by its letters only after an earlier answer.
    if (round % 2 == 0) {
      connection_->flush();
      ASSERT_TRUE(answered(2 * (round + std::size_t{1}))) << owner_.why;
    }
  }
  for (std::uint16_t round = 0; round < markers.size(); ++round) {
    const Recorder::Answered& vote = owner_.answers[2 * round];
    const Recorder::Answered& marker = owner_.answers[2 * round + std::size_t{1}];
    EXPECT_EQ(vote.reply, Reply::granted);
    EXPECT_EQ(vote.text, "");
    EXPECT_EQ(marker.stamp, stamp_of(Verb::read_marker, round));
    EXPECT_EQ(marker.reply, Reply::marker);
    EXPECT_EQ(marker.text, markers[round]) << round;
  }
}

TEST_F(ConnectionToFake, ReadsTimesOfAllYearsAmongOtherAnswers) {
  const std::vector<std::string> seconds{"1790000000", "17", "1790000001", "9000000000"};
  std::size_t next = 0;
  server_.on("TIME", [&](const test::Command&) -> test::FakeAnswer {
    return test::resp::array({test::resp::bulk(seconds.at(next++)), test::resp::bulk("42")});
  });
  connect_until_ready();
  for (const int chunk : {1, 100'000}) {
    server_.set_chunk(static_cast<std::size_t>(chunk));
    next = 0;
    owner_.answers.clear();
    for (std::uint16_t round = 0; round < seconds.size(); ++round) {
      ask(Verb::read_clock, round);
      ask(round % 2 == 0 ? Verb::set : Verb::set_and_ttl, round);
    }
    connection_->flush();
    ASSERT_TRUE(answered(2 * seconds.size())) << owner_.why;
    for (std::uint16_t round = 0; round < seconds.size(); ++round) {
      const Recorder::Answered& time = owner_.answers[2 * round];
      EXPECT_EQ(time.stamp, stamp_of(Verb::read_clock, round));
      EXPECT_EQ(time.reply, Reply::clock);
      EXPECT_EQ(time.time,
                std::chrono::seconds(std::stoll(seconds[round])) + std::chrono::microseconds(42));
      EXPECT_EQ(owner_.answers[2 * round + std::size_t{1}].reply, Reply::granted);
    }
  }
}

TEST_F(ConnectionToFake, ReadsAnswersThatComeByteByByte) {
  server_.set_chunk(1);
  connect_until_ready();
  ask(Verb::set_and_ttl);
  ask(Verb::set);
  connection_->flush();
  ASSERT_TRUE(answered(2)) << owner_.why;
  EXPECT_EQ(owner_.answers[0].reply, Reply::granted);
}

TEST_F(ConnectionToFake, ARefusedConnectionIsUnreachable) {
  server_.refuse();
  connect();
  ASSERT_TRUE(down());
  EXPECT_EQ(owner_.cause, NodeDown::Cause::unreachable);
  EXPECT_EQ(owner_.protocol_error, ProtocolError::none);
  EXPECT_NE(owner_.why, "");
}

TEST_F(ConnectionToFake, AServerThatHangsUpIsUnreachableAndAnswersNothingMore) {
  server_.on("SET", [](const test::Command&) { return test::FakeAnswer::close(); });
  connect_until_ready();
  ask(Verb::set);
  connection_->flush();
  ASSERT_TRUE(down());
  EXPECT_EQ(owner_.cause, NodeDown::Cause::unreachable);
  EXPECT_TRUE(owner_.answers.empty());
}

TEST_F(ConnectionToFake, ARefusalOfTheHandshakeIsAnErrorInTheServersWords) {
  server_.on("CLIENT ID", [](const test::Command&) -> test::FakeAnswer {
    return test::resp::error("ERR max number of clients reached");
  });
  connect();
  ASSERT_TRUE(down());
  EXPECT_EQ(owner_.cause, NodeDown::Cause::error);
  EXPECT_EQ(owner_.protocol_error, ProtocolError::none);
  EXPECT_EQ(owner_.why, "CLIENT ID: ERR max number of clients reached");
  EXPECT_FALSE(owner_.ready);
}

TEST_F(ConnectionToFake, AnAnswerThatNobodyAskedForEndsTheConnection) {
  connect_until_ready();
  server_.push("+OK\r\n");
  expect_violation();
}

TEST_F(ConnectionToFake, HalfAnAnswerThatNobodyAskedForEndsTheConnection) {
  connect_until_ready();
  server_.push("$5\r\nab");
  expect_violation();
}

TEST_F(ConnectionToFake, OneAnswerTooManyEndsTheConnectionAfterTheGoodOnes) {
  server_.on("SET", [](const test::Command&) -> test::FakeAnswer { return "$-1\r\n$-1\r\n"; });
  connect_until_ready();
  ask(Verb::set);
  connection_->flush();
  expect_violation();
  EXPECT_EQ(owner_.answers.size(), 1U);
}

TEST_F(ConnectionToFake, AnAnswerThatDoesNotFitEndsTheConnection) {
  server_.on("SET", [](const test::Command&) -> test::FakeAnswer { return ":1\r\n"; });
  connect_until_ready();
  ask(Verb::set);
  connection_->flush();
  expect_violation();
  EXPECT_TRUE(owner_.answers.empty());
}

TEST_F(ConnectionToFake, BytesThatAreNoRedisProtocolEndTheConnection) {
  server_.on("SET", [](const test::Command&) -> test::FakeAnswer { return "HTTP/1.1 200 OK\r\n"; });
  connect_until_ready();
  ask(Verb::set);
  connection_->flush();
  expect_violation();
}

TEST_F(ConnectionToFake, AnEndlessAnswerEndsTheConnection) {
  for (const char* start : {"+", "$1000000000\r\n", "*1000000000\r\n", "*64\r\n$1048576\r\n"}) {
    owner_ = Recorder();
    server_.on("SET", [start](const test::Command&) {
      return test::FakeAnswer::endless(start, std::string(4096, 'x'));
    });
    connect_until_ready();
    ask(Verb::set);
    connection_->flush();
    expect_violation();
    connection_.reset();
  }
}

TEST_F(ConnectionToFake, AFirstAnswerThatIsNoRedisEndsTheConnection) {
  server_.greet("220 smtp.example.org ESMTP\r\n");
  connect();
  expect_violation();
}

TEST_F(ConnectionToFake, TheOwnerMaySendAndFlushInsideAnAnswer) {
  connect_until_ready();
  owner_.react = [&] {
    if (owner_.answers.size() < 100) {
      ask(Verb::set, static_cast<std::uint16_t>(owner_.answers.size()));
      connection_->flush();
    }
  };
  ask(Verb::set_and_ttl);
  connection_->flush();
  ASSERT_TRUE(answered(100)) << owner_.why;
  EXPECT_EQ(owner_.answers[99].stamp.round(), 99);
}

TEST_F(ConnectionToFake, NothingIsCalledAfterTheOwnerClosedInsideAnAnswer) {
  connect_until_ready();
  owner_.react = [&] { connection_->close(uv::CloseMode::reset); };
  for (std::uint16_t round = 0; round < 5; ++round) ask(Verb::set_and_ttl, round);
  connection_->flush();
  ASSERT_TRUE(answered(1));
  EXPECT_FALSE(run_until(loop_,
                         [&, turns = 0]() mutable {
                           return owner_.answers.size() > 1 || owner_.downs > 0 || ++turns > 20;
                         }) &&
               (owner_.answers.size() > 1 || owner_.downs > 0));
  EXPECT_EQ(connection_->state(), Connection::State::closed);
}

TEST_F(ConnectionToFake, NothingIsCalledAfterTheOwnerClosedInsideAssents) {
  connect_until_ready();
  owner_.react = [&] { connection_->close(uv::CloseMode::reset); };
  for (std::uint16_t round = 0; round < 2; ++round) ask(Verb::set, round);
  for (std::uint16_t round = 2; round < 5; ++round) ask(Verb::set_and_ttl, round);
  connection_->flush();
  ASSERT_TRUE(run_until(loop_, [&] { return !owner_.answers.empty(); }));
  EXPECT_FALSE(run_until(loop_,
                         [&, turns = 0]() mutable {
                           return owner_.answers.size() > 2 || owner_.downs > 0 || ++turns > 20;
                         }) &&
               (owner_.answers.size() > 2 || owner_.downs > 0));
  EXPECT_EQ(connection_->state(), Connection::State::closed);
}

TEST_F(ConnectionToFake, TheOwnerMayDestroyTheConnectionInsideAnyCall) {
  owner_.react = [&] { connection_.reset(); };
  connect();  // inside on_ready
  ASSERT_TRUE(run_until(loop_, [&] { return owner_.ready.has_value(); }));
  EXPECT_EQ(connection_, nullptr);

  owner_.react = nullptr;
  owner_.ready.reset();
  connect_until_ready();
  owner_.react = [&] { connection_.reset(); };
  for (std::uint16_t round = 0; round < 5; ++round) ask(Verb::set_and_ttl, round);
  connection_->flush();  // inside on_answer
  ASSERT_TRUE(answered(1));
  EXPECT_EQ(connection_, nullptr);

  server_.refuse();
  connect();  // inside on_down
  ASSERT_TRUE(down());
  EXPECT_EQ(connection_, nullptr);

  server_.accept();
  server_.greet("garbage\r\n");
  owner_.downs = 0;
  connect();  // inside on_down for a violation
  ASSERT_TRUE(down());
  EXPECT_EQ(connection_, nullptr);
}

TEST_F(ConnectionToFake, MayBeClosedAndDestroyedAtAnyTime) {
  connection_ = std::make_unique<Connection>(loop_.get(), tcp_target(server_.port()), owner_);
  connection_.reset();  // never opened
  connect();
  connection_.reset();  // connecting
  connect();
  connection_->close(uv::CloseMode::graceful);
  connection_->close(uv::CloseMode::reset);
  connection_->flush();
  loop_.run();
  EXPECT_FALSE(owner_.ready);
  EXPECT_EQ(owner_.downs, 0);
}

}  // namespace
}  // namespace redlock::redis
