#include "uv/stream.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "uv_test_support.hpp"

namespace redlock::uv::test {
namespace {

class StreamTest : public testing::Test {
 protected:
  void open(const Endpoint& endpoint) {
    stream.emplace(loop.get(), recorder);
    stream->open(endpoint);
    EXPECT_FALSE(recorder.finished()) << "nothing may be reported from inside open()";
  }
  void expect_open() {
    ASSERT_TRUE(run_until(loop, [&] { return recorder.finished(); }));
    ASSERT_TRUE(recorder.failures.empty()) << recorder.failures[0].message;
  }
  void expect_failure(FailureKind kind, const std::string& message) {
    ASSERT_TRUE(run_until(loop, [&] { return !recorder.failures.empty(); }));
    EXPECT_EQ(recorder.failures[0].kind, kind) << recorder.failures[0].message;
    EXPECT_EQ(recorder.failures[0].message, message);
    EXPECT_EQ(recorder.failures.size(), 1U);
  }
  void send(std::string_view bytes) {
    stream->outbox() += bytes;
    stream->flush();
  }
  static std::string pattern(std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>((i * 31 + i / 997) & 0x7f);
    return text;
  }
  void expect_echo(LoopbackServer& server) {
    server.when_bytes = [&](std::string_view bytes) { server.send(bytes); };
    send("hello");
    ASSERT_TRUE(run_until(loop, [&] { return recorder.bytes == "hello"; }));
    EXPECT_EQ(stream->unsent(), 0U);
  }

  Loop loop;
  Recorder recorder;
  std::optional<Stream> stream;
};

TEST_F(StreamTest, TalksToAnIpv4Literal) {
  LoopbackServer server(loop, LoopbackServer::Ip{"127.0.0.1"});
  open(server.endpoint("127.0.0.1"));
  expect_open();
  expect_echo(server);
}

TEST_F(StreamTest, TalksToAnIpv6Literal) {
  std::optional<LoopbackServer> server;
  try {
    server.emplace(loop, LoopbackServer::Ip{"::1"});
  } catch (const std::system_error& error) {
    GTEST_SKIP() << "no IPv6 loopback here: " << error.what();
  }
  open(server->endpoint("::1"));
  expect_open();
  expect_echo(*server);
}

TEST_F(StreamTest, LooksANameUpAndTriesItsAddressesInTurn) {
  // On machines where localhost is ::1 first, nobody listens there.
  LoopbackServer server(loop, LoopbackServer::Ip{"127.0.0.1"});
  open(server.endpoint("localhost"));
  expect_open();
  expect_echo(server);
}

TEST_F(StreamTest, TalksToAUnixSocket) {
  TemporaryDirectory directory;
  LoopbackServer server(loop, LoopbackServer::Path{directory.file("s")});
  Endpoint endpoint;
  endpoint.kind = Endpoint::Kind::unix_socket;
  endpoint.path = directory.file("s");
  open(endpoint);
  expect_open();
  expect_echo(server);
  server.hang_up();
  expect_failure(FailureKind::closed_by_peer, "connection closed by the server");
}

TEST_F(StreamTest, ReportsARefusedConnection) {
  Endpoint endpoint;
  {
    LoopbackServer gone(loop, LoopbackServer::Ip{"127.0.0.1"});
    endpoint = gone.endpoint("127.0.0.1");
  }
  open(endpoint);
  expect_failure(FailureKind::connect, "connection refused");
  EXPECT_EQ(recorder.opened, 0);
}

TEST_F(StreamTest, ReportsAUnixSocketThatDoesNotExist) {
  TemporaryDirectory directory;
  Endpoint endpoint;
  endpoint.kind = Endpoint::Kind::unix_socket;
  endpoint.path = directory.file("nobody");
  open(endpoint);
  expect_failure(FailureKind::connect, "no such file or directory");
}

TEST_F(StreamTest, DoesNotCutALongSocketPathOff) {
  Endpoint endpoint;
  endpoint.kind = Endpoint::Kind::unix_socket;
  endpoint.path = "/" + std::string(200, 'x');
  open(endpoint);
  expect_failure(FailureKind::connect, "name too long");
}

TEST_F(StreamTest, ReportsANameThatDoesNotResolve) {
  Endpoint endpoint;
  endpoint.host = "nosuch.invalid";
  endpoint.port = 1;
  open(endpoint);
  ASSERT_TRUE(run_until(loop, [&] { return !recorder.failures.empty(); }));
  EXPECT_EQ(recorder.failures[0].kind, FailureKind::resolve);
  EXPECT_EQ(recorder.failures[0].message.find("cannot resolve host name 'nosuch.invalid': "), 0U);
}

TEST_F(StreamTest, ReportsAnEmptyHostNameAsUnresolvable) {
  open(Endpoint{});
  ASSERT_TRUE(run_until(loop, [&] { return !recorder.failures.empty(); }));
  EXPECT_EQ(recorder.failures[0].kind, FailureKind::resolve);
}

TEST_F(StreamTest, SendsEightMebibytesInOrderToASlowReader) {
  LoopbackServer server(loop, LoopbackServer::Ip{"127.0.0.1"});
  server.reads_at_once = false;
  open(server.endpoint("127.0.0.1"));
  expect_open();
  ASSERT_TRUE(run_until(loop, [&] { return server.accepted == 1; }));

  const std::string all = pattern(8U << 20U);
  const std::size_t half = all.size() / 2;
  send(std::string_view(all).substr(0, half));
  send(std::string_view(all).substr(half));
  EXPECT_GE(stream->unsent(), half) << "the kernel took everything: no backlog to test";
  EXPECT_EQ(stream->outbox().size(), half) << "later bytes wait behind those in flight";

  server.start_reading();
  ASSERT_TRUE(run_until(loop, [&] { return server.received.size() == all.size(); }));
  EXPECT_EQ(server.received, all);
  EXPECT_EQ(stream->unsent(), 0U);
  EXPECT_TRUE(recorder.failures.empty());
}

TEST_F(StreamTest, SendsOnlyWhatWasFlushedOnceABacklogIsGone) {
  LoopbackServer server(loop, LoopbackServer::Ip{"127.0.0.1"});
  server.reads_at_once = false;
  open(server.endpoint("127.0.0.1"));
  expect_open();
  ASSERT_TRUE(run_until(loop, [&] { return server.accepted == 1; }));
  send(pattern(8U << 20U));
  ASSERT_GT(stream->unsent(), 0U);
  stream->outbox() += "not flushed";
  server.start_reading();
  ASSERT_TRUE(run_until(loop, [&] { return server.received.size() == 8U << 20U; }));
  ASSERT_TRUE(run_until(loop, [&] { return stream->unsent() == 11; }));
  stream->flush();
  EXPECT_EQ(stream->unsent(), 0U);
}

TEST_F(StreamTest, KeepsBytesAppendedBeforeItIsOpenForTheFirstFlush) {
  LoopbackServer server(loop, LoopbackServer::Ip{"127.0.0.1"});
  recorder.when_open = [&] { stream->flush(); };
  open(server.endpoint("127.0.0.1"));
  send("early");
  EXPECT_EQ(stream->unsent(), 5U);
  ASSERT_TRUE(run_until(loop, [&] { return server.received == "early"; }));
}

TEST_F(StreamTest, KeepsTheCapacityOfTheOutbox) {
  LoopbackServer server(loop, LoopbackServer::Ip{"127.0.0.1"});
  open(server.endpoint("127.0.0.1"));
  expect_open();
  send(std::string(1000, 'x'));
  EXPECT_TRUE(stream->outbox().empty());
  EXPECT_GE(stream->outbox().capacity(), 1000U);
}

TEST_F(StreamTest, ReportsTheEndOnceWhenTheServerHangsUp) {
  LoopbackServer server(loop, LoopbackServer::Ip{"127.0.0.1"});
  open(server.endpoint("127.0.0.1"));
  expect_open();
  ASSERT_TRUE(run_until(loop, [&] { return server.accepted == 1; }));
  server.send("bye");
  server.hang_up();
  expect_failure(FailureKind::closed_by_peer, "connection closed by the server");
  EXPECT_EQ(recorder.bytes, "bye");
  send("too late");
  for (int turn = 0; turn < 5; ++turn) uv_run(loop.get(), UV_RUN_NOWAIT);
  EXPECT_EQ(recorder.failures.size(), 1U);
}

TEST_F(StreamTest, DeliversTheLastWordsOfAServerThatAlreadyHungUpWhenAWriteFails) {
  LoopbackServer server(loop, LoopbackServer::Ip{"127.0.0.1"});
  server.reads_at_once = false;
  open(server.endpoint("127.0.0.1"));
  expect_open();
  ASSERT_TRUE(run_until(loop, [&] { return server.accepted == 1; }));
  server.send("-ERR max number of clients reached\r\n");
  server.hang_up();
  // The first write provokes the reset, the second one meets it; SIGPIPE would end this program.
  send("PING\r\n");
  send("PING\r\n");
  EXPECT_TRUE(recorder.failures.empty()) << "nothing may be reported from inside flush()";
  ASSERT_TRUE(run_until(loop, [&] { return !recorder.failures.empty(); }));
  EXPECT_EQ(recorder.failures[0].kind, FailureKind::closed_by_peer);
  EXPECT_EQ(recorder.bytes, "-ERR max number of clients reached\r\n");
}

TEST_F(StreamTest, ReportsTheEndWhenTheServerHangsUpOnABacklog) {
  LoopbackServer server(loop, LoopbackServer::Ip{"127.0.0.1"});
  server.reads_at_once = false;
  open(server.endpoint("127.0.0.1"));
  expect_open();
  ASSERT_TRUE(run_until(loop, [&] { return server.accepted == 1; }));
  send(std::string(8U << 20U, 'x'));
  ASSERT_GT(stream->unsent(), 0U);
  server.hang_up();
  expect_failure(FailureKind::closed_by_peer, "connection reset by the server");
}

TEST_F(StreamTest, MayBeClosedFromInsideOnBytes) {
  LoopbackServer server(loop, LoopbackServer::Ip{"127.0.0.1"});
  recorder.when_bytes = [&] { stream->close(CloseMode::graceful); };
  open(server.endpoint("127.0.0.1"));
  expect_open();
  ASSERT_TRUE(run_until(loop, [&] { return server.accepted == 1; }));
  server.send("answer");
  ASSERT_TRUE(run_until(loop, [&] { return server.end_status != 0; }));
  EXPECT_EQ(recorder.last_chunk, "answer");
  EXPECT_TRUE(recorder.failures.empty());
}

TEST_F(StreamTest, MayBeDestroyedFromInsideAnyCallback) {
  LoopbackServer server(loop, LoopbackServer::Ip{"127.0.0.1"});
  recorder.when_bytes = [&] { stream.reset(); };
  open(server.endpoint("127.0.0.1"));
  expect_open();
  ASSERT_TRUE(run_until(loop, [&] { return server.accepted == 1; }));
  server.send("answer");
  ASSERT_TRUE(run_until(loop, [&] { return !stream.has_value(); }));
  EXPECT_EQ(recorder.last_chunk, "answer");

  recorder = Recorder();
  recorder.when_open = [&] { stream.reset(); };
  open(server.endpoint("localhost"));
  ASSERT_TRUE(run_until(loop, [&] { return !stream.has_value(); }));

  recorder = Recorder();
  recorder.when_failed = [&] { stream.reset(); };
  open(Endpoint{});
  ASSERT_TRUE(run_until(loop, [&] { return !stream.has_value(); }));
}

TEST_F(StreamTest, AGracefulCloseSendsTheOutboxAndEndsTheStreamInOrder) {
  LoopbackServer server(loop, LoopbackServer::Ip{"127.0.0.1"});
  open(server.endpoint("127.0.0.1"));
  expect_open();
  stream->outbox() += "good bye";
  stream->close(CloseMode::graceful);
  ASSERT_TRUE(run_until(loop, [&] { return server.end_status != 0; }));
  EXPECT_EQ(server.received, "good bye");
  EXPECT_EQ(server.end_status, UV_EOF);
}

TEST_F(StreamTest, ACloseByResetAndDestructionResetTheConnection) {
  for (const bool destroyed : {false, true}) {
    LoopbackServer server(loop, LoopbackServer::Ip{"127.0.0.1"});
    open(server.endpoint("127.0.0.1"));
    expect_open();
    ASSERT_TRUE(run_until(loop, [&] { return server.accepted == 1; }));
    stream->outbox() += "never sent";
    if (destroyed) {
      stream.reset();
    } else {
      stream->close(CloseMode::reset);
    }
    ASSERT_TRUE(run_until(loop, [&] { return server.end_status != 0; }));
    EXPECT_EQ(server.end_status, UV_ECONNRESET);
    EXPECT_EQ(server.received, "");
    recorder = Recorder();
  }
}

TEST_F(StreamTest, LeavesNothingOnTheLoopWhereverItWasWhenItWasClosed) {
  std::optional<LoopbackServer> server(std::in_place, loop, LoopbackServer::Ip{"127.0.0.1"});
  for (const char* host : {"127.0.0.1", "localhost", "nosuch.invalid", ""}) {
    for (int turns = 0; turns < 4; ++turns) {
      open(server->endpoint(host));
      for (int i = 0; i < turns; ++i) uv_run(loop.get(), UV_RUN_NOWAIT);
      recorder = Recorder();
      stream->close(CloseMode::reset);
      stream->close(CloseMode::graceful);
      send("into the void");
      stream.reset();
      EXPECT_FALSE(recorder.finished());
    }
  }
  server.reset();
  loop.run();
  EXPECT_EQ(uv_loop_alive(loop.get()), 0);
  EXPECT_FALSE(recorder.finished()) << "a closed stream is silent";
}

TEST_F(StreamTest, ReadsAFloodOfAnswersCompletely) {
  LoopbackServer server(loop, LoopbackServer::Ip{"127.0.0.1"});
  const std::string line = pattern(1000);
  std::size_t asked = 0;
  server.when_bytes = [&](std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) server.send(line);
  };
  recorder.when_bytes = [&] {
    if (recorder.bytes.size() == asked * line.size() && asked < 2000) {
      asked += 200;
      stream->outbox().append(200, '?');
      stream->flush();
    }
  };
  open(server.endpoint("127.0.0.1"));
  expect_open();
  asked = 1;
  send("?");
  ASSERT_TRUE(run_until(loop, [&] { return recorder.bytes.size() >= 2001 * line.size(); }));
  for (std::size_t i = 0; i < recorder.bytes.size(); i += line.size()) {
    ASSERT_EQ(recorder.bytes.compare(i, line.size(), line), 0);
  }
}

}  // namespace
}  // namespace redlock::uv::test
