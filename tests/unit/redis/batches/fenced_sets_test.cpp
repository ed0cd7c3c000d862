// Fenced SETs of one turn: what is sent for them, and how a connection reads the answers.

#include "redis/batches/fenced_sets.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "redis/connection/connection.hpp"
#include "redis/requests/plain_yes.hpp"
#include "support/fake_server.hpp"
#include "support/redis_connection.hpp"
#include "support/resp.hpp"

namespace redlock::redis {
namespace {

using core::Reply;
using core::Stamp;
using core::Verb;
namespace resp = test::resp;

TEST(FencedSets, AreASetForEachAndTwoCommandsForAll) {
  FencedSets sets;
  sets.add("SET-a", "a", "ta", 5000);
  sets.add("SET-bb", "bb", "tb", 17);
  std::string sent = "before";
  sets.encode(sent);
  EXPECT_EQ(sent, "beforeSET-aSET-bb" +
                      resp::command(
                          {"ZADD", "redlock:node:numbers", "GT", "CH", "5000", "a", "17", "bb"}) +
                      resp::command({"MGET", "a", "bb"}));
  std::string yes;
  sets.encode_yes(yes, "_\r\n");
  EXPECT_EQ(yes,
            "_\r\n_\r\n" + resp::integer(2) + resp::array({resp::bulk("ta"), resp::bulk("tb")}));
}

TEST(FencedSets, AreEmptyAgain) {
  FencedSets sets;
  for (std::size_t i = 0; i < FencedSets::most; ++i) sets.add("SET", "r", "t", 1);
  EXPECT_TRUE(sets.full());
  sets.clear();
  EXPECT_EQ(sets.size(), 0U);
  sets.add("SET", "r", "t", 1);
  std::string yes;
  sets.encode_yes(yes, "+OK\r\n");
  EXPECT_EQ(yes, "+OK\r\n" + resp::integer(1) + resp::array({resp::bulk("t")}));
}

/// A connection to a server that answers in RESP2 and does not know GET in a SET.
class FencedSetsToFake : public testing::Test {
 protected:
  void SetUp() override {
    connection_ = std::make_unique<Connection>(loop_.get(), tcp_target(server_.port()), owner_);
    connection_->open();
    ASSERT_TRUE(run_until(loop_, [&] { return owner_.ready || owner_.downs > 0; }));
    ASSERT_TRUE(owner_.ready) << owner_.why;
    granted_ = connection_->dialect() == Dialect::classic ? resp::status("OK") : resp::nil();
    refused_ = connection_->dialect() == Dialect::classic ? resp::nil() : resp::bulk("somebody");
  }
  /// Sends `count` SETs in one call: "r0" with the token "t0" and so on.
  void ask(std::uint16_t count) {
    FencedSets sets;
    std::vector<Sent> requests;
    for (std::uint16_t round = 0; round < count; ++round) {
      const std::string name = std::to_string(round);
      sets.add(resp::command({"SET", "r" + name, "t" + name}), "r" + name, "t" + name, 100 + round);
      requests.push_back({{Verb::set_fenced_short, {}, round}, static_cast<std::uint8_t>(count)});
    }
    std::string encoded;
    std::string yes;
    sets.encode(encoded);
    sets.encode_yes(yes, yes_to_set(connection_->dialect(), Protocol::resp2));
    connection_->send(encoded, requests, yes);
    connection_->flush();
  }
  /// `holders`: whose keys they are at the end.
  void server_answers(const std::string& raised, const std::string& holders) {
    server_.on("SET", [this](const test::Command&) -> test::FakeAnswer { return granted_; });
    server_.on("ZADD", [raised](const test::Command&) -> test::FakeAnswer { return raised; });
    server_.on("MGET", [holders](const test::Command&) -> test::FakeAnswer { return holders; });
  }
  static std::string ours(std::size_t count) {
    std::vector<std::string> tokens;
    for (std::size_t i = 0; i < count; ++i) tokens.push_back(resp::bulk("t" + std::to_string(i)));
    return resp::array(tokens);
  }
  std::vector<Reply> replies(std::size_t count) {
    EXPECT_TRUE(
        run_until(loop_, [&] { return owner_.answers.size() >= count || owner_.downs > 0; }));
    std::vector<Reply> replies;
    for (std::size_t i = 0; i < owner_.answers.size(); ++i) {
      EXPECT_EQ(owner_.answers[i].stamp.round(), i) << "in the order of the requests";
      replies.push_back(owner_.answers[i].reply);
    }
    return replies;
  }

  test::FakeServer server_;
  uv::Loop loop_;
  Recorder owner_;
  std::string granted_;
  std::string refused_;
  std::unique_ptr<Connection> connection_;
};

TEST_F(FencedSetsToFake, AreGrantedWhereAllNumbersWereRaisedAndTheKeysAreOurs) {
  server_answers(resp::integer(12), ours(12));
  ask(12);
  EXPECT_EQ(replies(12), std::vector<Reply>(12, Reply::granted));
  EXPECT_TRUE(owner_.answers[0].text.empty()) << "compared, and not parsed";
}

TEST_F(FencedSetsToFake, AreComparedAlsoWhenTheAnswerComesByteByByte) {
  server_.set_chunk(1);
  server_answers(resp::integer(3), ours(3));
  ask(3);
  ask(3);
  EXPECT_TRUE(run_until(loop_, [&] { return owner_.answers.size() >= 6 || owner_.downs > 0; }));
  ASSERT_EQ(owner_.answers.size(), 6U);
  for (const auto& answer : owner_.answers) {
    EXPECT_EQ(answer.reply, Reply::granted);
    EXPECT_TRUE(answer.text.empty()) << "compared, and not parsed";
  }
}

TEST_F(FencedSetsToFake, OneThatWasRefusedLeavesTheOthersGranted) {
  server_answers(resp::integer(3), resp::array({resp::bulk("t0"), resp::bulk("x"), resp::nil()}));
  server_.on("SET", [this](const test::Command& words) -> test::FakeAnswer {
    return words[1] == "r1" ? refused_ : granted_;
  });
  ask(3);
  const std::vector<Reply> expected{Reply::granted, Reply::taken, Reply::behind};
  EXPECT_EQ(replies(3), expected) << "the third key has gone in between";
  EXPECT_EQ(owner_.answers[0].text, "t0");
}

TEST_F(FencedSetsToFake, AKeyThatBecameSomebodyElsesNamesWhose) {
  server_answers(resp::integer(2), resp::array({resp::bulk("t0"), resp::bulk("other")}));
  ask(2);
  EXPECT_EQ(replies(2), std::vector<Reply>(2, Reply::granted));
  EXPECT_EQ(owner_.answers[1].text, "other") << "the engine compares";
}

TEST_F(FencedSetsToFake, NoneIsAcknowledgedWhereFewerNumbersWereRaised) {
  server_answers(resp::integer(2), ours(3));
  ask(3);
  EXPECT_EQ(replies(3), std::vector<Reply>(3, Reply::behind));
}

TEST_F(FencedSetsToFake, NoneIsAcknowledgedBehindAnError) {
  server_answers(resp::error("NOPERM"), ours(2));
  ask(2);
  EXPECT_EQ(replies(2), std::vector<Reply>(2, Reply::behind));
  owner_.answers.clear();
  server_answers(resp::integer(2), resp::error("NOPERM"));
  ask(2);
  EXPECT_EQ(replies(2), std::vector<Reply>(2, Reply::behind)) << "the keys are set all the same";
}

TEST_F(FencedSetsToFake, AnErrorToOneSetIsItsAnswer) {
  server_answers(resp::integer(2), ours(2));
  server_.on("SET", [this](const test::Command& words) -> test::FakeAnswer {
    return words[1] == "r0" ? resp::error("OOM command not allowed") : granted_;
  });
  ask(2);
  const std::vector<Reply> expected{Reply::error, Reply::granted};
  EXPECT_EQ(replies(2), expected);
}

TEST_F(FencedSetsToFake, AnswersThatDoNotFitEndTheConnection) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {resp::integer(3), ours(2)},
      {resp::integer(-1), ours(2)},
      {resp::nil(), ours(2)},
      {resp::integer(2), ours(1)},
      {resp::integer(2), ours(3)},
      {resp::integer(2), resp::nil()},
      {resp::integer(2), resp::integer(2)}};
  for (const auto& [raised, holders] : wrong) {
    owner_ = Recorder();
    SetUp();
    server_answers(raised, holders);
    ask(2);
    ASSERT_TRUE(run_until(loop_, [&] { return owner_.downs > 0; }));
    EXPECT_EQ(owner_.protocol_error, ProtocolError::violation) << raised << holders;
    EXPECT_TRUE(owner_.answers.empty()) << raised << holders;
  }
}

TEST_F(FencedSetsToFake, AnOwnerMayEndTheConnectionInTheMiddle) {
  server_answers(resp::integer(2), ours(3));
  owner_.react = [this] {
    if (owner_.answers.size() == 2) connection_.reset();
  };
  ask(3);
  ASSERT_TRUE(run_until(loop_, [&] { return connection_ == nullptr; }));
  EXPECT_EQ(owner_.answers.size(), 2U);
  EXPECT_EQ(owner_.downs, 0);
}

}  // namespace
}  // namespace redlock::redis
