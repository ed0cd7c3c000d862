// The notifications of a node about a tracked key that expires.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "integration/library.hpp"
#include "support/eventually.hpp"
#include "support/resp_client.hpp"

namespace redlock::test {
namespace {

/// A client that tracks keys as the library does, and the connection that receives its
/// notifications.
struct TrackingClient {
  explicit TrackingClient(const RedisServer& server)
      : listener(RespClient::tcp(server.port())), client(RespClient::tcp(server.port())) {
    const std::int64_t id = listener.call({"CLIENT", "ID"}).integer;
    static_cast<void>(listener.call({"SUBSCRIBE", "__redis__:invalidate", "end"}));
    static_cast<void>(listener.read());
    const Command track{"CLIENT",           "TRACKING", "ON",    "REDIRECT",
                        std::to_string(id), "OPTIN",    "NOLOOP"};
    EXPECT_TRUE(client.call(track).is_ok());
  }
  void track(const std::string& key) {
    EXPECT_TRUE(client.call({"CLIENT", "CACHING", "YES"}).is_ok());
    EXPECT_EQ(client.call({"EXISTS", key}).integer, 1);
  }
  [[nodiscard]] std::string channel_of_next() { return listener.read().elements.at(1).string; }

  RespClient listener;
  RespClient client;
};

/// The rule of Simulation::note_changes.
TEST(TrackedKeyAgainstServer, OfAKeyThatExpiredWhoMeetsItLearnsNothingAndAllOthersDo) {
  if (!shared_new_nodes()[0].is_since(7)) GTEST_SKIP() << "row redis-7.0 of the matrix";
  RedisServerOptions options;
  options.arguments = {"--enable-debug-command", "yes"};
  const Nodes nodes(1, options);
  const RedisServer& server = nodes[0];
  // Only a request deletes an expired key.
  ASSERT_TRUE(server.command({"DEBUG", "SET-ACTIVE-EXPIRE", "0"}).is_ok());
  TrackingClient first(server);
  TrackingClient second(server);
  ASSERT_TRUE(server.command({"SET", "key", "token", "PX", "1000"}).is_ok());
  first.track("key");
  second.track("key");
  ASSERT_TRUE(server.command({"SET", "witness", "token", "PX", "1100"}).is_ok());
  ASSERT_TRUE(eventually([&] { return server.command({"EXISTS", "witness"}).integer == 0; }));
  EXPECT_EQ(first.client.call({"EXISTS", "key"}).integer, 0);
  // Notifications arrive in the order in which they were sent.
  static_cast<void>(server.command({"PUBLISH", "end", "of what there is to be told"}));
  EXPECT_EQ(first.channel_of_next(), "end");
  EXPECT_EQ(second.channel_of_next(), "__redis__:invalidate");
}

}  // namespace
}  // namespace redlock::test
