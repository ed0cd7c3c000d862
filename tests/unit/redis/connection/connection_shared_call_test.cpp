// How a connection reads the one answer to a SharedCall.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "redis/batches/encoder.hpp"
#include "redis/connection/connection.hpp"
#include "redis/requests/row.hpp"
#include "redis/requests/shared_call.hpp"
#include "support/encoding.hpp"
#include "support/fake_server.hpp"
#include "support/redis_connection.hpp"
#include "support/resp.hpp"

namespace redlock::redis {
namespace {

using core::Reply;
using core::Stamp;
using core::Verb;
namespace resp = test::resp;

class SharedCallToFake : public testing::Test {
 protected:
  void SetUp() override {
    connection_ = std::make_unique<Connection>(loop_.get(), tcp_target(server_.port()), owner_);
    connection_->open();
    ASSERT_TRUE(run_until(loop_, [&] { return owner_.ready || owner_.downs > 0; }));
    ASSERT_TRUE(owner_.ready) << owner_.why;
  }
  /// Sends `count` requests of the verb in one call, and a SET after it.
  void send(Verb verb, std::uint16_t count) {
    SharedCall call;
    std::vector<Sent> requests;
    for (std::uint16_t round = 0; round < count; ++round) {
      const std::string resource = "r" + std::to_string(round);
      core::Terms terms;
      terms.resource = resource;
      terms.token = "me";
      terms.ttl = std::chrono::seconds(1);
      call.add(*row_of(verb).shared, terms);
      requests.push_back({{verb, {}, round}, static_cast<std::uint8_t>(count)});
    }
    connection_->send(call.encode(connection_->form_of_call(verb)), requests);
    Encoder encoder;
    connection_->send(
        test::encode(encoder, Verb::set, core::ScriptForm::digest, connection_->dialect(), "r",
                     Token::parse("me").value(), std::chrono::seconds(1), 1),
        {Verb::set, {}, count});
    EXPECT_EQ(connection_->unanswered(), count + 1U);
    connection_->flush();
  }
  void release(std::uint16_t count) { send(Verb::release, count); }
  void renew(std::uint16_t count) { send(Verb::extend, count); }
  void script_answers(const std::string& answer) {
    server_.on("EVALSHA", [answer](const test::Command&) -> test::FakeAnswer { return answer; });
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
  std::unique_ptr<Connection> connection_;
};

TEST_F(SharedCallToFake, OneNumberAnswersThemAll) {
  script_answers(resp::integer(12));
  release(12);
  std::vector<Reply> expected(12, Reply::released);
  expected.push_back(Reply::granted);
  EXPECT_EQ(replies(13), expected);
}

TEST_F(SharedCallToFake, OneNumberAnswersThemAllByteByByte) {
  server_.set_chunk(1);
  script_answers(resp::integer(2));
  release(2);
  const std::vector<Reply> expected{Reply::released, Reply::released, Reply::granted};
  EXPECT_EQ(replies(3), expected);
}

TEST_F(SharedCallToFake, OneByOneTheyHaveAnAnswerEach) {
  script_answers(
      resp::array({resp::integer(1), resp::integer(0), resp::integer(-1), resp::error("NOPERM")}));
  release(4);
  const std::vector<Reply> expected{Reply::released, Reply::gone, Reply::taken, Reply::error,
                                    Reply::granted};
  EXPECT_EQ(replies(5), expected);
  EXPECT_TRUE(owner_.answers[3].text.starts_with("NOPERM")) << owner_.answers[3].text;
}

TEST_F(SharedCallToFake, ASmallerNumberSaysThatNoneIsThere) {
  script_answers(resp::integer(1));
  release(2);
  const std::vector<Reply> expected{Reply::gone, Reply::gone, Reply::granted};
  EXPECT_EQ(replies(3), expected);
}

TEST_F(SharedCallToFake, OneThatWasAloneMayHaveAnArray) {
  script_answers(resp::array({resp::integer(-1)}));
  release(1);
  const std::vector<Reply> expected{Reply::taken, Reply::granted};
  EXPECT_EQ(replies(2), expected);
}

TEST_F(SharedCallToFake, OneNumberAnswersAllRenewals) {
  script_answers(resp::integer(64));
  renew(64);
  std::vector<Reply> expected(64, Reply::extended);
  expected.push_back(Reply::granted);
  EXPECT_EQ(replies(65), expected);
}

TEST_F(SharedCallToFake, RenewalsHaveAnAnswerEachUnlessAllAreOurs) {
  script_answers(
      resp::array({resp::integer(1), resp::integer(0), resp::integer(-1), resp::error("NOPERM")}));
  renew(4);
  const std::vector<Reply> expected{Reply::extended, Reply::gone, Reply::taken, Reply::error,
                                    Reply::granted};
  EXPECT_EQ(replies(5), expected);
}

TEST_F(SharedCallToFake, ASmallerNumberIsNoAnswerToRenewals) {
  script_answers(resp::integer(1));
  renew(2);
  ASSERT_TRUE(run_until(loop_, [&] { return owner_.downs > 0; }));
  EXPECT_EQ(owner_.protocol_error, ProtocolError::violation);
  EXPECT_TRUE(owner_.answers.empty());
}

TEST_F(SharedCallToFake, AnErrorIsTheAnswerToEach) {
  script_answers(resp::error("READONLY You can't write against a read only replica."));
  release(3);
  const std::vector<Reply> expected{Reply::error, Reply::error, Reply::error, Reply::granted};
  EXPECT_EQ(replies(4), expected);
  EXPECT_TRUE(owner_.answers[2].text.starts_with("READONLY")) << owner_.answers[2].text;
}

TEST_F(SharedCallToFake, AScriptThatIsNotKnownIsSentInFullNextTimeOnly) {
  script_answers(resp::error("NOSCRIPT No matching script."));
  server_.on("EVAL", [](const test::Command&) -> test::FakeAnswer { return resp::integer(2); });
  release(2);
  std::vector<Reply> expected{Reply::script_missing, Reply::script_missing, Reply::granted};
  EXPECT_EQ(replies(3), expected);
  owner_.answers.clear();
  EXPECT_EQ(connection_->form_of_call(Verb::release), core::ScriptForm::text);
  EXPECT_EQ(connection_->form_of_call(Verb::extend), core::ScriptForm::digest);
  release(2);
  EXPECT_EQ(connection_->form_of_call(Verb::release), core::ScriptForm::digest);
  expected = {Reply::released, Reply::released, Reply::granted};
  EXPECT_EQ(replies(3), expected);
}

TEST_F(SharedCallToFake, AnswersThatDoNotFitEndTheConnection) {
  for (const std::string& answer :
       {resp::integer(-1), resp::integer(3), resp::array({resp::integer(1)}), resp::status("OK"),
        resp::array({resp::integer(1), resp::integer(2)}), resp::nil(),
        resp::array({resp::integer(1), resp::array({resp::integer(1), resp::integer(0)})})}) {
    owner_ = Recorder();
    SetUp();
    script_answers(answer);
    release(2);
    ASSERT_TRUE(run_until(loop_, [&] { return owner_.downs > 0; }));
    EXPECT_EQ(owner_.protocol_error, ProtocolError::violation) << answer;
    EXPECT_TRUE(owner_.answers.empty()) << answer;
  }
}

TEST_F(SharedCallToFake, AnOwnerMayEndTheConnectionInTheMiddle) {
  script_answers(resp::array({resp::integer(1), resp::integer(0), resp::integer(-1)}));
  owner_.react = [this] {
    if (owner_.answers.size() == 2) connection_.reset();
  };
  release(3);
  ASSERT_TRUE(run_until(loop_, [&] { return connection_ == nullptr; }));
  EXPECT_EQ(owner_.answers.size(), 2U);
  EXPECT_EQ(owner_.downs, 0);
}

}  // namespace
}  // namespace redlock::redis
