// Arguments that are refused before anything is sent.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "integration/library.hpp"
#include "support/fake_server.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

/// The one-line message of refused options.
[[nodiscard]] std::string refusal(ClientOptions options) {
  auto client = Client::create(options);
  EXPECT_TRUE(failed_with(client, Errc::invalid_argument));
  auto asynchronous = AsyncClient::create(std::move(options));
  EXPECT_TRUE(failed_with(asynchronous, Errc::invalid_argument));
  if (client || asynchronous) return {};
  EXPECT_EQ(client.error().message, asynchronous.error().message);
  EXPECT_THAT(client.error().message, Not(HasSubstr("\n")));
  return client.error().message;
}

class ClientOptionsRefused : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(fake_.connections_accepted(), 0U) << "something was sent"; }

  [[nodiscard]] ClientOptions with(std::vector<std::string> more = {}) const {
    more.push_back(fake_.url());
    return patient(std::move(more));
  }
  FakeServer fake_;
};

TEST_F(ClientOptionsRefused, MalformedUrlsAreNamed) {
  for (const std::string bad : {"",
                                "redis://",
                                "http://127.0.0.1",
                                "redis://host:0",
                                "redis://host:65536",
                                "redis://host:port",
                                "redis://host/db",
                                "redis://host/-1",
                                "redis://host?db=1",
                                "redis://a@b@host",
                                "redis://%zz@host",
                                "redis://[::1",
                                "redis://::1:6379",
                                "unix://relative",
                                "unix:///",
                                "unix:///a?database=1",
                                "redis://host:6379/0/1",
                                "redis:/host",
                                "host name",
                                "redis://ho\nst",
                                "user:pw@host"}) {
    EXPECT_THAT(refusal(with({bad})), HasSubstr("node '")) << bad;
  }
}

TEST_F(ClientOptionsRefused, APasswordIsNotShownInTheRefusal) {
  for (const std::string bad :
       {"redis://:hunter2@host:port", "redis://user:hunter2@", "user:hunter2@host",
        "redis://:hunter2/x@host", "http://:hunter2@host", "redis://:hunter2?@host",
        "redis://:hunter2"}) {
    EXPECT_THAT(refusal(with({bad})), Not(HasSubstr("hunter2"))) << bad;
  }
}

TEST_F(ClientOptionsRefused, ThereMustBeOneToFifteenNodes) {
  EXPECT_THAT(refusal({}), HasSubstr("nodes: 0 given; 1 to 15"));
  std::vector<std::string> many;
  for (int i = 0; i < 15; ++i) many.push_back("127.0.0.1:" + std::to_string(1000 + i));
  EXPECT_THAT(refusal(with(many)), HasSubstr("nodes: 16 given; 1 to 15"));
}

TEST_F(ClientOptionsRefused, AServerGivenTwiceIsNamed) {
  const auto same = "are the same server";
  EXPECT_THAT(refusal(with({fake_.url()})), HasSubstr(same));
  EXPECT_THAT(refusal(with({fake_.url() + "/7"})), HasSubstr(same));
  EXPECT_THAT(refusal(with({"127.0.0.1:" + std::to_string(fake_.port())})), HasSubstr(same));
  EXPECT_THAT(refusal(with({"redis://:pw@127.0.0.1:" + std::to_string(fake_.port())})),
              HasSubstr(same));
  EXPECT_THAT(refusal(with({"redis://HOST", "rediss://host:6379"})), HasSubstr(same));
  EXPECT_THAT(refusal(with({"unix:///a", "unix:///a?db=1"})), HasSubstr(same));
}

TEST_F(ClientOptionsRefused, AQuorumIsAMajorityAtLeastAndAllAtMost) {
  auto options = with({"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"});
  for (const std::size_t quorum : {std::size_t{0}, std::size_t{2}, std::size_t{5}, SIZE_MAX}) {
    options.quorum = quorum;
    EXPECT_THAT(refusal(options),
                HasSubstr("quorum: " + std::to_string(quorum) + " of 4 nodes; 3 to 4"));
  }
}

TEST_F(ClientOptionsRefused, TlsFilesNeedANodeThatSpeaksTls) {
  auto options = with();
  options.tls.ca_file = "/ca.pem";
  EXPECT_THAT(refusal(options), HasSubstr("no node's URL is rediss://"));
}

TEST_F(ClientOptionsRefused, ATlsFileThatCanNotBeReadIsNamed) {
  auto options = with({"rediss://127.0.0.1:1"});
  options.tls.ca_file = "/there/is/no/ca.pem";
  EXPECT_THAT(refusal(options), HasSubstr("/there/is/no/ca.pem"));
  options.tls.ca_file.clear();
  options.tls.certificate_file = "/there/is/no/client.crt";
  EXPECT_THAT(refusal(options), HasSubstr("tls: "));
}

TEST_F(ClientOptionsRefused, LimitsMustMakeSense) {
  auto options = with();
  options.node.shortest_timeout = seconds(2);
  options.node.longest_timeout = seconds(1);
  EXPECT_THAT(refusal(options), HasSubstr("node timeouts: 2 s to 1 s"));
  options = with();
  options.node.shortest_timeout = nanoseconds(0);
  EXPECT_THAT(refusal(options), HasSubstr("node timeouts"));
  options = with();
  options.node.longest_timeout = nanoseconds::max();
  EXPECT_THAT(refusal(options), HasSubstr("node timeouts"));
  for (const nanoseconds limit : {nanoseconds(0), nanoseconds(-1), nanoseconds::max()}) {
    options = with();
    options.node.connect_timeout = limit;
    EXPECT_THAT(refusal(options), HasSubstr("connect timeout"));
  }
  for (const nanoseconds ttl :
       {nanoseconds(0), nanoseconds(-1), nanoseconds::max(), nanoseconds::min()}) {
    options = with();
    options.max_ttl = ttl;
    EXPECT_THAT(refusal(options), HasSubstr("max TTL"));
  }
}

/// One healthy fake server that sees every command.
class CallArguments : public testing::Test {
 protected:
  void SetUp() override {
    fake_.on("EVALSHA", [](const Command&) { return resp::integer(1); });
    ASSERT_TRUE(succeeded(client_.try_acquire("warm up")));
    ASSERT_TRUE(eventually([&] { return fake_.count("EVALSHA") == 1; }));
    fake_.clear_commands();
  }
  void TearDown() override {
    // Any earlier request arrives before this one.
    static_cast<void>(client_.inspect("the last"));
    const auto commands = fake_.commands();
    ASSERT_FALSE(commands.empty());
    EXPECT_THAT(commands.front(), testing::Contains("the last"));
  }
  template <typename T>
  void expect_refused(const Result<T>& result, const std::string& words) {
    ASSERT_TRUE(failed_with(result, Errc::invalid_argument));
    EXPECT_THAT(result.error().message, HasSubstr(words));
    EXPECT_THAT(result.error().message, Not(HasSubstr("\n")));
    EXPECT_TRUE(result.error().round.nodes.empty());
  }

  FakeServer fake_;
  Client client_ = make_client(of_fakes({fake_.url()}));
  Token token_ = *Token::parse(hex_token());
};

TEST_F(CallArguments, AResourceHasOneTo8192Bytes) {
  for (const std::string& bad : {std::string(), std::string(8193, 'x')}) {
    const auto words = "resource: " + std::to_string(bad.size()) + " bytes; 1 to 8192";
    expect_refused(client_.try_acquire(bad), words);
    expect_refused(client_.extend(bad, token_, seconds(1)), words);
    expect_refused(client_.release(bad, token_), words);
    expect_refused(client_.inspect(bad), words);
    expect_refused(client_.ownership(bad, token_), words);
  }
}

TEST_F(CallArguments, ATtlIsAtLeastWhatLeavesValidityAndAtMostTheMaxTtl) {
  for (const nanoseconds bad :
       {nanoseconds(0), nanoseconds(-1), nanoseconds(milliseconds(-5)), nanoseconds(999'999),
        nanoseconds(milliseconds(1)), nanoseconds(milliseconds(2)), nanoseconds(2'999'999),
        nanoseconds::max(), nanoseconds::min(), nanoseconds(seconds(30)) + nanoseconds(1)}) {
    expect_refused(client_.try_acquire("r", {.ttl = bad}), "ttl: ");
    expect_refused(client_.extend("r", token_, bad), "ttl: ");
  }
  expect_refused(client_.try_acquire("r", {.ttl = seconds(31)}), "the max TTL of 30 s");
  expect_refused(client_.try_acquire("r", {.ttl = milliseconds(2)}), "ttl: 2 ms; 3 ms to ");
}

TEST_F(CallArguments, AMaxHoldIsPositive) {
  AcquireOptions options;
  options.max_hold = nanoseconds(0);
  expect_refused(client_.acquire("r", std::move(options)), "max hold: ");
}

TEST(CallDeadlines, OneThatHasPassedIsOneAttemptHoweverLongAgo) {
  Client client = make_client(patient(shared_urls(3)));
  for (const auto deadline :
       {BootClock::time_point::min(), BootClock::time_point{}, BootClock::now() - seconds(1)}) {
    const auto resource = fresh_resource();
    auto lease = client.try_acquire_until(resource, deadline);
    ASSERT_TRUE(succeeded(lease));
    EXPECT_TRUE(failed_with(client.try_acquire_until(resource, deadline), Errc::held));
    EXPECT_TRUE(failed_with(client.try_acquire_for(resource, nanoseconds::min()), Errc::held));
  }
}

TEST(CallDeadlines, OneThatNeverComesIsForever) {
  Client client = make_client(patient(shared_urls(3)));
  for (const auto deadline :
       {BootClock::time_point::max(), BootClock::time_point::max() - nanoseconds(1)}) {
    const auto resource = fresh_resource();
    auto lease = client.try_acquire_until(resource, deadline);
    ASSERT_TRUE(succeeded(lease));
    std::stop_source stop;
    auto waiting = std::async(std::launch::async, [&] {
      return client.try_acquire_until(resource, deadline, {}, stop.get_token());
    });
    ASSERT_TRUE(succeeded(lease->release()));
    EXPECT_TRUE(succeeded(waiting.get()));
  }
}

TEST(CallToken, IsOneToSoManyBytes) {
  EXPECT_FALSE(Token::parse(""));
  EXPECT_FALSE(Token::parse(std::string(limits::token_bytes + 1, 'x')));
  EXPECT_TRUE(Token::parse(std::string(limits::token_bytes, 'x')));
}

}  // namespace
}  // namespace redlock::test
