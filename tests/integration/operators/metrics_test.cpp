// A client's metrics.

#include "redlock/metrics.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "integration/library.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

using namespace std::chrono_literals;

ClientOptions options_for(std::vector<std::string> urls) {
  ClientOptions options;
  options.nodes = std::move(urls);
  return options;
}

TEST(ClientMetrics, CountWhatTheClientDoes) {
  Result<Client> client = Client::create(options_for(shared_urls(3)));
  ASSERT_TRUE(client);
  const std::string resource = fresh_resource();
  Result<Lease> lease = client->acquire(resource);
  ASSERT_TRUE(lease) << lease.error().message;
  EXPECT_EQ(client->try_acquire(resource).error().code, Errc::held);
  Result<Metrics> metrics = client->metrics();
  ASSERT_TRUE(metrics) << metrics.error().message;
  EXPECT_EQ(metrics->acquires.granted, 1U);
  EXPECT_EQ(metrics->acquires.held, 1U);
  EXPECT_EQ(metrics->leases_held, 1U);
  EXPECT_EQ(metrics->waits.count(), 1U);
  EXPECT_EQ(metrics->quorum, 2U);
  ASSERT_EQ(metrics->nodes.size(), 3U);
  std::uint64_t granted = 0;
  for (const NodeMetrics& node : metrics->nodes) granted += node.votes.granted;
  EXPECT_GE(granted, 2U);
  ASSERT_TRUE(lease->extend(10s));
  ASSERT_TRUE(lease->release());
  metrics = client->metrics();
  EXPECT_EQ(metrics->leases_held, 0U);
  EXPECT_EQ(metrics->renewals_done, 1U);
  EXPECT_EQ(metrics->holds.count(), 1U);
}

TEST(ClientMetrics, NameNodesWithoutTheirPasswords) {
  RedisServerOptions server;
  server.password = "secret";
  Nodes nodes(1, server);
  Result<Client> client = Client::create(options_for(nodes.urls()));
  ASSERT_TRUE(client);
  ASSERT_TRUE(client->try_acquire_for(fresh_resource(), 10s));
  const std::string text = to_prometheus(client->metrics().value());
  EXPECT_NE(text.find("redlock_node_up{node=\"redis://127.0.0.1:"), std::string::npos) << text;
  EXPECT_EQ(text.find("secret"), std::string::npos);
}

TEST(ClientMetrics, CountTheHandoverToAWaitingCaller) {
  Result<Client> holder = Client::create(options_for(shared_urls(3)));
  Result<Client> waiter = Client::create(options_for(shared_urls(3)));
  ASSERT_TRUE(holder && waiter);
  const std::string resource = fresh_resource();
  Result<Lease> lease = holder->acquire(resource);
  ASSERT_TRUE(lease);
  std::jthread waiting([&] { EXPECT_TRUE(waiter->acquire(resource)); });
  EXPECT_TRUE(eventually([&] { return waiter->metrics().value().acquires_waiting == 1; }));
  ASSERT_TRUE(lease->release());
  waiting.join();
  const Metrics metrics = waiter->metrics().value();
  EXPECT_EQ(metrics.acquires_waiting, 0U);
  EXPECT_EQ(metrics.acquires.granted, 1U);
  EXPECT_LE(metrics.handovers, 1U);
  EXPECT_GE(metrics.attempts, 2U);
}

TEST(ClientMetrics, OfAClosedClientAreRefused) {
  Result<Client> client = Client::create(options_for(shared_urls(1)));
  ASSERT_TRUE(client);
  ASSERT_TRUE(client->close());
  EXPECT_EQ(client->metrics().error().code, Errc::closed);
  const Client moved = *std::move(client);
  EXPECT_EQ(client->metrics().error().code, Errc::closed);
}

TEST(ClientMetrics, OfAnAsynchronousClientComeOnItsLoopThread) {
  Result<AsyncClient> client = AsyncClient::create(options_for(shared_urls(1)));
  ASSERT_TRUE(client);
  std::atomic<int> answers{0};
  client->metrics([&](const Result<Metrics>& metrics) {
    EXPECT_TRUE(metrics && metrics->nodes.size() == 1);
    // The callback may ask for metrics again.
    client->metrics([&](const Result<Metrics>& again) {
      EXPECT_TRUE(again);
      answers = 1;
    });
  });
  EXPECT_TRUE(eventually([&] { return answers == 1; }));
}

TEST(ClientMetrics, AreAcceptedByPromtool) {
  if (run_process({"sh", "-c", "command -v promtool"}).exit_code != 0) {
    GTEST_SKIP() << "promtool is not installed: tools/install-packages full";
  }
  Result<Client> client = Client::create(options_for(shared_urls(3)));
  ASSERT_TRUE(client);
  ASSERT_TRUE(client->acquire(fresh_resource()));
  const TempDir folder;
  const auto page = folder.write("metrics", to_prometheus(client->metrics().value()));
  const ProcessResult checked =
      run_process({"sh", "-c", "promtool check metrics < " + page.string()});
  EXPECT_EQ(checked.exit_code, 0) << checked.errors << checked.output;
  EXPECT_EQ(checked.errors, "");
}

}  // namespace
}  // namespace redlock::test
