// Hosts with several addresses, some of which are silent or refuse.

#include "uv/connector.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/sockets.hpp"
#include "uv/resolver.hpp"
#include "uv/stream.hpp"
#include "uv_test_support.hpp"

namespace redlock::uv::test {
namespace {

using redlock::test::SilentListener;

/// The TCP handles of the loop that are not being closed.
[[nodiscard]] std::size_t open_sockets(Loop& loop) {
  std::size_t count = 0;
  uv_walk(
      loop.get(),
      [](uv_handle_t* handle, void* counted) {
        if (handle->type == UV_TCP && uv_is_closing(handle) == 0) {
          ++*static_cast<std::size_t*>(counted);
        }
      },
      &count);
  return count;
}

/// The timers of the loop that will fire.
[[nodiscard]] std::size_t active_timers(Loop& loop) {
  std::size_t count = 0;
  uv_walk(
      loop.get(),
      [](uv_handle_t* handle, void* counted) {
        if (handle->type == UV_TIMER && uv_is_active(handle) != 0) {
          ++*static_cast<std::size_t*>(counted);
        }
      },
      &count);
  return count;
}

/// Counts the reports of a connector, which it does not destroy.
struct Reports final : ConnectorListener {
  void on_trying(const Address& /*address*/) noexcept override {}
  void on_connected(Socket /*socket*/, const Address* /*address*/) noexcept override {
    ++connected;
  }
  void on_unconnected(int /*status*/) noexcept override { ++unconnected; }
  int connected = 0;
  int unconnected = 0;
};

class ConnectorTest : public testing::Test {
 protected:
  [[nodiscard]] static Address at(const std::string& host, std::uint16_t port) {
    return *parse_literal(host, port);
  }
  [[nodiscard]] Address silent() const { return at("127.0.0.1", silent_.port()); }
  [[nodiscard]] Address live() const { return at("127.0.0.1", server_.port()); }
  [[nodiscard]] Address refusing() {
    const LoopbackServer gone(loop, LoopbackServer::Ip{"127.0.0.1"});
    return at("127.0.0.1", gone.port());
  }
  void open(const Addresses& found) {
    stream.reset();
    resolver.emplace(loop.get(), [found](const std::string&, std::uint16_t) {
      return ResolvedHost{nullptr, found};
    });
    open_again();
  }
  void open_again() {
    recorder = Recorder();
    Endpoint endpoint = server_.endpoint("host");
    endpoint.resolver = &*resolver;
    stream.emplace(loop.get(), recorder);
    stream->open(endpoint);
  }
  /// Whether the stream is connected to the server, and nothing is left of the other attempts.
  void expect_echo() {
    ASSERT_TRUE(run_until(loop, [&] { return recorder.finished(); }));
    ASSERT_TRUE(recorder.failures.empty()) << recorder.failures[0].message;
    server_.when_bytes = [&](std::string_view bytes) { server_.send(bytes); };
    stream->outbox() += "hello";
    stream->flush();
    ASSERT_TRUE(run_until(loop, [&] { return recorder.bytes == "hello"; }));
    EXPECT_EQ(open_sockets(loop), sockets_of_server + 1);
  }

  static constexpr std::size_t sockets_of_server = 2;  // it listens, and has one client

  Loop loop;
  SilentListener silent_;
  LoopbackServer server_{loop, LoopbackServer::Ip{"127.0.0.1"}};
  Recorder recorder;
  std::optional<Resolver> resolver;
  std::optional<Stream> stream;
};

TEST_F(ConnectorTest, ReachesTheOnlyAddressThatIsNotSilent) {
  for (const std::size_t count : {1U, 2U, 8U, 16U}) {
    Addresses found(count - 1, silent());
    found.push_back(live());
    open(found);
    expect_echo();
  }
}

TEST_F(ConnectorTest, ReachesTheOnlyAddressThatDoesNotRefuse) {
  for (const std::size_t count : {2U, 8U, 16U}) {
    Addresses found(count - 1, refusing());
    found.push_back(live());
    open(found);
    expect_echo();
  }
}

TEST_F(ConnectorTest, PassesOverSilentAndRefusingAddressesInAnyOrder) {
  open({silent(), refusing(), silent(), live(), silent()});
  expect_echo();
  open({refusing(), silent(), live()});
  expect_echo();
}

TEST_F(ConnectorTest, BeginsWithTheAddressThatWorkedLast) {
  open({silent(), live()});
  expect_echo();
  stream->server_works();
  stream.reset();
  open_again();
  ASSERT_TRUE(run_until(loop, [&] { return open_sockets(loop) > sockets_of_server; }));
  ASSERT_TRUE(run_until(loop, [&] { return recorder.finished(); }));
  expect_echo();
}

TEST_F(ConnectorTest, FailsOnceWhenEveryAddressHasRefused) {
  open({refusing(), refusing(), refusing()});
  ASSERT_TRUE(run_until(loop, [&] { return recorder.finished(); }));
  EXPECT_EQ(recorder.opened, 0);
  for (int turn = 0; turn < 5; ++turn) uv_run(loop.get(), UV_RUN_NOWAIT);
  ASSERT_EQ(recorder.failures.size(), 1U);
  EXPECT_EQ(recorder.failures[0].kind, FailureKind::connect);
  EXPECT_EQ(recorder.failures[0].message, "connection refused");
}

TEST_F(ConnectorTest, ReportsOnceAndLeavesNoTimerThatWouldReportAgain) {
  const std::size_t before = active_timers(loop);
  Reports reports;
  Connector connector(loop.get(), reports);
  connector.connect({refusing(), refusing()}, std::chrono::seconds(1));
  ASSERT_EQ(active_timers(loop), before + 1) << "for the second address";
  ASSERT_TRUE(run_until(loop, [&] { return reports.unconnected > 0; }));
  EXPECT_EQ(active_timers(loop), before);
  EXPECT_EQ(reports.unconnected, 1);
  EXPECT_EQ(reports.connected, 0);
}

TEST_F(ConnectorTest, WaitsForASilentAddressWhenAllOthersHaveRefused) {
  open({silent(), refusing()});
  // The silent address, while its owner has patience: then it listens again.
  ASSERT_TRUE(run_until(loop, [&] { return open_sockets(loop) > 1; }));
  silent_.accept_all();
  ASSERT_TRUE(run_until(loop, [&] { return recorder.finished(); }));
  EXPECT_EQ(recorder.opened, 1);
}

TEST_F(ConnectorTest, LeavesNothingOnTheLoopWhereverItWasWhenItWasClosed) {
  for (int turns = 0; turns < 6; ++turns) {
    open({silent(), refusing(), silent(), silent()});
    for (int i = 0; i < turns; ++i) uv_run(loop.get(), UV_RUN_ONCE);
    stream.reset();
    EXPECT_FALSE(recorder.finished());
    resolver.reset();
  }
  ASSERT_TRUE(run_until(loop, [&] { return open_sockets(loop) == 1; }));
}

TEST_F(ConnectorTest, MayBeDestroyedWhenItHasConnectedOrFailed) {
  open({silent(), live()});
  recorder.when_open = [&] { stream.reset(); };
  ASSERT_TRUE(run_until(loop, [&] { return !stream.has_value(); }));
  EXPECT_EQ(recorder.opened, 1);
  open({refusing(), refusing()});
  recorder.when_failed = [&] { stream.reset(); };
  ASSERT_TRUE(run_until(loop, [&] { return !stream.has_value(); }));
  EXPECT_EQ(recorder.failures.size(), 1U);
}

}  // namespace
}  // namespace redlock::uv::test
