#include "support/fake_server.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "support/eventually.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"

namespace redlock::test {
namespace {

TEST(FakeServerTest, ImitatesAHealthyRedis) {
  FakeServer server({.run_id = "abc", .version = "6.2.1", .role = "slave", .password = "p"});
  auto client = RespClient::tcp(server.port());
  EXPECT_TRUE(client.call({"HELLO", "3"}).is_error());
  EXPECT_TRUE(client.call({"AUTH", "wrong"}).is_error());
  EXPECT_TRUE(client.call({"AUTH", "p"}).is_ok());
  EXPECT_TRUE(client.call({"SELECT", "2"}).is_ok());
  EXPECT_GT(client.call({"CLIENT", "ID"}).integer, 0);
  EXPECT_TRUE(client.call({"CLIENT", "SETNAME", "x"}).is_ok());
  const auto info = client.call({"INFO", "server"}).string;
  EXPECT_NE(info.find("run_id:abc\r\n"), std::string::npos);
  EXPECT_NE(info.find("redis_version:6.2.1\r\n"), std::string::npos);
  EXPECT_NE(info.find("role:slave\r\n"), std::string::npos);
  EXPECT_EQ(client.call({"TIME"}).elements.size(), 2U);
  EXPECT_TRUE(client.call({"SET", "k", "v", "NX", "PX", "10"}).is_ok());
  EXPECT_TRUE(client.call({"SET", "k", "v", "NX", "PX", "10", "GET"}).is_nil());
  EXPECT_EQ(client.call({"SUBSCRIBE", "c"}).elements.at(2).integer, 1);
  EXPECT_TRUE(client.call({"NONSENSE"}).is_error());
}

TEST(FakeServerTest, DigestsScriptsAsARealServerDoes) {
  FakeServer fake;
  const RedisServer real;
  auto client = RespClient::tcp(fake.port());
  for (const std::size_t length : {0U, 1U, 53U, 54U, 55U, 61U, 1000U}) {
    const std::string script = "return 1" + std::string(length, ' ');
    EXPECT_EQ(client.call({"SCRIPT", "LOAD", script}), real.command({"SCRIPT", "LOAD", script}));
  }
}

TEST(FakeServerTest, RecordsCommandsAndAnswersOverridesDifferently) {
  FakeServer server;
  server.on("SET", [](const Command&) { return resp::error("OOM no memory"); })
      .on("client id", [](const Command&) { return resp::integer(77); });
  auto client = RespClient::tcp(server.port());
  EXPECT_EQ(client.call({"SET", "a", "b"}).string, "OOM no memory");
  EXPECT_EQ(client.call({"client", "id"}).integer, 77);
  EXPECT_EQ(server.commands(), (std::vector<Command>{{"SET", "a", "b"}, {"client", "id"}}));
  EXPECT_EQ(server.count("SET"), 1U);
  EXPECT_EQ(server.count("CLIENT ID"), 1U);
  server.forget("SET");
  EXPECT_TRUE(client.call({"SET", "a", "b"}).is_ok());
  EXPECT_EQ(server.connections_accepted(), 1U);
}

TEST(FakeServerTest, CanStaySilentCloseAndReset) {
  FakeServer server;
  server.on("QUIET", [](const Command&) { return FakeAnswer::silence(); });
  server.on("LEAVE", [](const Command&) { return FakeAnswer::close(resp::status("BYE")); });
  server.on("CRASH", [](const Command&) { return FakeAnswer::reset(); });
  auto quiet = RespClient::tcp(server.port());
  quiet.set_limit(std::chrono::milliseconds(30));
  EXPECT_THROW(quiet.call({"QUIET"}), std::runtime_error);
  auto leaving = RespClient::tcp(server.port());
  EXPECT_EQ(leaving.call({"LEAVE"}).string, "BYE");
  EXPECT_THROW(static_cast<void>(leaving.read()), std::runtime_error);
  auto crashing = RespClient::tcp(server.port());
  EXPECT_THROW(crashing.call({"CRASH"}), std::runtime_error);
  EXPECT_TRUE(eventually([&] { return server.connections_open() == 1; }));
}

TEST(FakeServerTest, PoursOutAnEndlessAnswerAndStaysUsable) {
  FakeServer server;
  server.on("GET", [](const Command&) {
    return FakeAnswer::endless("$1000000000\r\n", std::string(4096, 'x'));
  });
  auto drowned = RespClient::tcp(server.port());
  drowned.set_limit(std::chrono::milliseconds(50));
  EXPECT_THROW(drowned.call({"GET", "k"}), std::runtime_error);
  EXPECT_EQ(RespClient::tcp(server.port()).call({"PING"}).string, "PONG");
}

TEST(FakeServerTest, CutsAnswersIntoSmallPieces) {
  FakeServer server;
  server.set_chunk(1);
  auto client = RespClient::tcp(server.port());
  EXPECT_EQ(client.call({"PING"}).string, "PONG");
  EXPECT_NE(client.call({"INFO"}).string.find("role:master"), std::string::npos);
}

TEST(FakeServerTest, GreetsPushesRefusesAndAcceptsAgain) {
  FakeServer server;
  server.greet(resp::error("ERR max number of clients reached"));
  auto client = RespClient::tcp(server.port());
  EXPECT_EQ(client.read().string, "ERR max number of clients reached");
  server.push(resp::status("SURPRISE"));
  EXPECT_EQ(client.read().string, "SURPRISE");
  server.refuse();
  EXPECT_THROW(static_cast<void>(RespClient::tcp(server.port())), std::runtime_error);
  server.reset_connections();
  EXPECT_THROW(static_cast<void>(client.read()), std::runtime_error);
  server.greet("");
  server.accept();
  EXPECT_EQ(RespClient::tcp(server.port()).call({"PING"}).string, "PONG");
}

TEST(FakeServerTest, CountsWhatIsNoCommandAndClosesThatConnection) {
  FakeServer server;
  auto client = RespClient::tcp(server.port());
  client.send_raw("?what\r\n");
  EXPECT_THROW(static_cast<void>(client.read()), std::runtime_error);
  EXPECT_EQ(server.malformed(), 1U);
}

TEST(RespParserTest, ReadsEveryKindOfValueWhereverTheBytesAreSplit) {
  const std::string bytes =
      resp::array({resp::status("OK"), resp::error("ERR x"), resp::integer(-5),
                   resp::bulk("a\r\nb"), resp::nil(), resp::array({resp::integer(1)})});
  for (std::size_t split = 0; split <= bytes.size(); ++split) {
    RespParser parser;
    parser.feed(std::string_view(bytes).substr(0, split));
    auto reply = parser.next();
    EXPECT_EQ(reply.has_value(), split == bytes.size());
    parser.feed(std::string_view(bytes).substr(split));
    if (!reply) reply = parser.next();
    ASSERT_TRUE(reply.has_value());
    ASSERT_EQ(reply->elements.size(), 6U);
    EXPECT_EQ(reply->elements[2].integer, -5);
    EXPECT_EQ(reply->elements[3].string, "a\r\nb");
    EXPECT_TRUE(reply->elements[4].is_nil());
    EXPECT_EQ(parser.next(), std::nullopt);
  }
}

}  // namespace
}  // namespace redlock::test
