// Servers that do not speak the protocol, by accident or on purpose. The client never crashes or
// hangs; it reports the server, and gets its lease from the others.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/library.hpp"
#include "support/eventually.hpp"
#include "support/fake_server.hpp"

namespace redlock::test {
namespace {

using testing::HasSubstr;

struct Hostility {
  const char* name;
  FakeAnswer answer;
  NodeEvent::Kind reported_as = NodeEvent::Kind::protocol;
};

std::ostream& operator<<(std::ostream& out, const Hostility& hostility) {
  return out << hostility.name;
}

[[nodiscard]] std::string many(const std::string& text, std::size_t times) {
  // By doubling: every process of the integration tests makes these values as it starts.
  std::string result = text;
  while (result.size() < text.size() * times) result += result;
  result.resize(text.size() * times);
  return result;
}

[[nodiscard]] std::vector<Hostility> hostilities() {
  using Kind = NodeEvent::Kind;
  return {
      {"Garbage", "\x01\x02\xff garbage \r\n"},
      {"AnHttpAnswer", "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"},
      {"AnEndlessBulk", FakeAnswer::endless("$1000000000\r\n", std::string(65536, 'x'))},
      {"AnEndlessLine", FakeAnswer::endless("+", std::string(65536, 'x'))},
      {"EndlessNothings", FakeAnswer::endless("", "\r\n\r\n\r\n\r\n")},
      {"NestedArrays", many("*1\r\n", 100'000)},
      {"AHugeArray", "*2147483647\r\n"},
      {"AHugerArray", "*9223372036854775807\r\n"},
      {"ANegativeArray", "*-5\r\n"},
      {"AnEndlessArray", FakeAnswer::endless("*1000000\r\n", many("$1\r\nx\r\n", 1000))},
      {"ABulkLongerThanItSays", "$2\r\nabcdef\r\n"},
      {"ANegativeBulk", "$-7\r\nabc\r\n"},
      {"ANumberThatIsNone", ":twelve\r\n"},
      {"ANumberTooLarge", ":99999999999999999999999\r\n"},
      {"Resp3", "%1\r\n+a\r\n+b\r\n"},
      {"AnArray", resp::array({resp::bulk("a"), resp::bulk("b")})},
      {"AnEmptyArray", "*0\r\n"},
      {"ANumber", ":42\r\n"},
      {"AnOtherStatus", "+QUEUED\r\n"},
      {"NoAnswerAndTheEnd", FakeAnswer::close(), Kind::down},
      {"NoAnswerAndAReset", FakeAnswer::reset(), Kind::down},
  };
}

class HostileServer : public testing::TestWithParam<Hostility> {
 protected:
  /// Options with the fake server and two good nodes: its vote is neither needed nor waited for.
  [[nodiscard]] ClientOptions with_two_good_ones() const {
    auto options =
        of_fakes({fake_.url(), shared_new_nodes()[0].url(), shared_new_nodes()[1].url()});
    options.on_node_event = log_.listener();
    return options;
  }
  /// The lease must be on both good nodes: the fake server and one of them are a quorum that cannot
  /// extend. A connected node is asked only after its clock is known, and then gets the lease at
  /// once.
  void expect_a_lease(Client& client) {
    const std::string resource = fresh_resource();
    auto lease = acquire_patiently(client, resource);
    ASSERT_TRUE(succeeded(lease));
    ASSERT_TRUE(eventually([&] { return shared_new_nodes().count_held(resource) == 2; }));
    EXPECT_TRUE(succeeded(lease->extend(std::chrono::seconds(20))));
    EXPECT_TRUE(succeeded(lease->release()));
  }
  /// Takes leases until the fake server has been reported. The good nodes may be so quick that the
  /// fake server, whose clock is read first, is not asked.
  void expect_leases_until_told(Client& client) {
    EXPECT_TRUE(eventually([&] {
      expect_a_lease(client);
      return HasFailure() || log_.count(GetParam().reported_as, 0) > 0;
    })) << "no node event came";
  }
  FakeServer fake_;
  EventLog log_;
};

TEST_P(HostileServer, InAnswerToASetIsDropped) {
  fake_.on("SET", [](const Command&) { return GetParam().answer; });
  Client client = make_client(with_two_good_ones());
  ASSERT_TRUE(log_.wait_for(NodeEvent::Kind::up, 0));
  expect_leases_until_told(client);
  expect_a_lease(client);

  // As the only node, the fake server is an outage, and the message says why.
  Client alone = make_client(of_fakes({fake_.url()}));
  auto refused = alone.try_acquire(fresh_resource());
  ASSERT_TRUE(failed_with(refused, Errc::unavailable));
  EXPECT_FALSE(refused.error().round.nodes.at(0).message.empty());
  EXPECT_LT(refused.error().message.size(), 1000U);
}

TEST_P(HostileServer, InAnswerToAScriptIsDropped) {
  fake_.on("EVALSHA", [](const Command&) {
    // Scripts answer with numbers, so a number would be valid here.
    return GetParam().answer.bytes == ":42\r\n" ? FakeAnswer("+OK\r\n") : GetParam().answer;
  });
  Client client = make_client(with_two_good_ones());
  ASSERT_TRUE(log_.wait_for(NodeEvent::Kind::up, 0));
  expect_leases_until_told(client);
}

TEST_P(HostileServer, InAnswerToTheHandshakeIsDropped) {
  fake_.on("INFO", [](const Command&) { return GetParam().answer; });
  Client client = make_client(with_two_good_ones());
  expect_a_lease(client);
  EXPECT_TRUE(log_.wait_for(GetParam().reported_as, 0));
  EXPECT_EQ(log_.count(NodeEvent::Kind::up, 0), 0U);
  EXPECT_EQ(fake_.count("SET"), 0U);
}

TEST_P(HostileServer, BeforeItWasAskedAnythingIsDropped) {
  if (GetParam().reported_as == NodeEvent::Kind::down) GTEST_SKIP() << "nothing to send unasked";
  Client client = make_client(with_two_good_ones());
  ASSERT_TRUE(log_.wait_for(NodeEvent::Kind::up, 0));
  fake_.push(GetParam().answer.bytes.empty() ? "\r\n" : GetParam().answer.bytes);
  EXPECT_TRUE(log_.wait_for(NodeEvent::Kind::protocol, 0));
  expect_a_lease(client);
}

INSTANTIATE_TEST_SUITE_P(Hostilities, HostileServer, testing::ValuesIn(hostilities()),
                         [](const auto& tested) { return std::string(tested.param.name); });

class HostileMoments : public testing::Test {
 protected:
  FakeServer fake_;
  EventLog log_;
};

TEST_F(HostileMoments, ClosingAtEveryByteOfAnAnswerIsOnlyAnOutage) {
  auto options = of_fakes({fake_.url()});
  options.on_node_event = log_.listener();
  Client client = make_client(options);
  fake_.on("EVALSHA", [](const Command&) { return resp::integer(0); });
  const std::string refusal = resp::bulk("holder");
  for (std::size_t bytes = 0; bytes < refusal.size(); ++bytes) {
    fake_.on("SET",
             [&, bytes](const Command&) { return FakeAnswer::close(refusal.substr(0, bytes)); });
    ASSERT_TRUE(log_.wait_for(NodeEvent::Kind::up, 0, bytes + 1));
    EXPECT_TRUE(failed_with(client.try_acquire("r"), Errc::unavailable)) << bytes;
  }
  fake_.on("SET", [&](const Command&) { return FakeAnswer::close(refusal); });
  ASSERT_TRUE(log_.wait_for(NodeEvent::Kind::up, 0, refusal.size() + 1));
  EXPECT_TRUE(failed_with(client.try_acquire("r"), Errc::held));
}

TEST_F(HostileMoments, ClosingAtEveryCommandOfTheHandshakeIsOnlyAnOutage) {
  for (const std::string word : {"CLIENT ID", "INFO", "CLIENT SETNAME", "SCRIPT LOAD"}) {
    FakeServer fake;
    fake.on(word, [](const Command&) { return FakeAnswer::close(); });
    Client client = make_client(of_fakes({fake.url()}));
    auto refused = client.try_acquire("r");
    ASSERT_TRUE(failed_with(refused, Errc::unavailable)) << word;
    EXPECT_EQ(refused.error().round.nodes.at(0).vote, Vote::unreachable) << word;
    fake.forget(word);
    EXPECT_TRUE(succeeded(acquire_patiently(client, "r"))) << word;
  }
}

TEST_F(HostileMoments, AnAnswerGivenTwiceIsNotCountedForTheNextQuestion) {
  auto options = of_fakes({fake_.url()});
  options.on_node_event = log_.listener();
  fake_.on("SET", [](const Command&) { return FakeAnswer(resp::nil() + resp::nil()); });
  Client client = make_client(options);
  auto lease = client.try_acquire("r");
  if (lease) static_cast<void>(lease->detach());
  EXPECT_TRUE(log_.wait_for(NodeEvent::Kind::protocol, 0));
  fake_.on("SET", [](const Command&) { return resp::bulk("other"); });
  ASSERT_TRUE(log_.wait_for(NodeEvent::Kind::up, 0, 2));
  EXPECT_TRUE(failed_with(client.try_acquire("r"), Errc::held));
}

TEST_F(HostileMoments, AnswersInTheSmallestPiecesAreUnderstood) {
  fake_.set_chunk(1);
  fake_.on("EVALSHA", [](const Command&) { return resp::integer(1); });
  Client client = make_client(of_fakes({fake_.url()}));
  auto lease = client.try_acquire("r");
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(succeeded(lease->extend(std::chrono::seconds(20))));
  EXPECT_TRUE(succeeded(lease->release()));
}

TEST_F(HostileMoments, NoAnswerAtAllIsATimeout) {
  // Later requests get no answer either: answers have an order.
  for (const char* word : {"SET", "EVAL", "EVALSHA"}) {
    fake_.on(word, [](const Command&) { return FakeAnswer::silence(); });
  }
  Client alone = make_client(unguarded(impatient({fake_.url()})));
  auto refused = alone.try_acquire("r");
  ASSERT_TRUE(failed_with(refused, Errc::unavailable));
  EXPECT_EQ(refused.error().round.nodes.at(0).vote, Vote::timeout);

  Client client = make_client(
      of_fakes({fake_.url(), shared_new_nodes()[0].url(), shared_new_nodes()[1].url()}));
  EXPECT_TRUE(succeeded(client.try_acquire(fresh_resource())));
  fake_.reset_connections();  // or the client would wait for the server when it ends
}

TEST_F(HostileMoments, AServerThatAcceptsAndSaysNothingIsATimeout) {
  fake_.answer_all([](const Command&) { return FakeAnswer::silence(); });
  Client alone = make_client(unguarded(impatient({fake_.url()})));
  auto refused = alone.try_acquire("r");
  ASSERT_TRUE(failed_with(refused, Errc::unavailable));
  EXPECT_EQ(refused.error().round.nodes.at(0).vote, Vote::timeout);
  EXPECT_THAT(refused.error().message, HasSubstr("no connection within"));
}

TEST_F(HostileMoments, AHolderMadeOfControlCharactersIsShownHarmlessly) {
  fake_.on("SET", [](const Command&) {
    return resp::bulk(
        "\x1b[2J\r\n\n\x07"
        "evil");
  });
  Client client = make_client(of_fakes({fake_.url()}));
  auto refused = client.try_acquire("r");
  ASSERT_TRUE(failed_with(refused, Errc::held));
  EXPECT_THAT(refused.error().message,
              testing::Not(testing::AnyOf(HasSubstr("\x1b"), HasSubstr("\n"))));
}

TEST_F(HostileMoments, AnErrorMessageMadeOfControlCharactersIsShownHarmlessly) {
  fake_.on("SET",
           [](const Command&) { return resp::error("ERR \x1b[2J\x07" + std::string(5000, 'x')); });
  Client client = make_client(of_fakes({fake_.url()}));
  auto refused = client.try_acquire("r");
  ASSERT_TRUE(failed_with(refused, Errc::unavailable));
  EXPECT_THAT(refused.error().message, testing::Not(HasSubstr("\x1b")));
  EXPECT_LT(refused.error().message.size(), 2000U);
}

TEST_F(HostileMoments, AVersionAndARunIdThatAreAttacksAreHarmless) {
  fake_.imitate({.run_id = std::string(100'000, 'r'), .version = "\x1b[2J99999999999999999999"});
  Client client = make_client(of_fakes({fake_.url()}));
  static_cast<void>(client.try_acquire("r"));
}

}  // namespace
}  // namespace redlock::test
