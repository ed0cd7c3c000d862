// Many releases in one call: the script on a real server, and a client that ends many locks in one
// turn of its loop.

#include <gtest/gtest.h>
#include <uv.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "integration/guarded.hpp"
#include "integration/library.hpp"
#include "redis/encoder.hpp"
#include "redis/releases.hpp"
#include "support/resp_client.hpp"
#include "uv/loop.hpp"

namespace redlock::test {
namespace {

using core::ScriptForm;
using core::Verb;
using std::chrono::milliseconds;
using std::chrono::seconds;

class ReleasesScript : public testing::Test {
 protected:
  /// "a" by the token "ta", and so on.
  Reply release(const std::vector<std::string>& resources) {
    redis::Releases releases;
    for (const std::string& resource : resources) {
      releases.add(resource, "t" + resource);
    }
    client_.send_raw(releases.encode(ScriptForm::text, milliseconds(20'000)));
    return client_.read();
  }
  void hold(const std::string& resource, const std::string& token) {
    ASSERT_TRUE(server_.command({"SET", resource, token, "PX", "60000"}).is_ok());
  }
  static std::vector<std::int64_t> numbers(const Reply& reply) {
    std::vector<std::int64_t> all;
    for (const Reply& element : reply.elements) all.push_back(element.integer);
    return all;
  }

  RedisServer server_;
  RespClient client_ = RespClient::unix_socket(server_.unix_path());
};

TEST_F(ReleasesScript, DeletesThemAllInTwoCommands) {
  for (const std::string resource : {"a", "b", "c"}) hold(resource, "t" + resource);
  EXPECT_EQ(release({"a", "b", "c"}).integer, 3);
  EXPECT_EQ(server_.command({"DBSIZE"}).integer, 0);
  EXPECT_EQ(calls(server_, "mget"), 1);
  EXPECT_EQ(calls(server_, "del"), 1);
}

TEST_F(ReleasesScript, DeletesOursAndNoOther) {
  hold("a", "ta");
  hold("b", "somebody");
  server_.command({"HSET", "d", "field", "value"});
  hold("e", "te");
  EXPECT_EQ(numbers(release({"a", "b", "c", "d", "e"})),
            (std::vector<std::int64_t>{1, -1, 0, -1, 1}));
  EXPECT_EQ(server_.get("a"), std::nullopt);
  EXPECT_EQ(server_.get("b"), "somebody");
  EXPECT_EQ(server_.command({"HGET", "d", "field"}).string, "value");
  EXPECT_EQ(server_.get("e"), std::nullopt);
}

TEST_F(ReleasesScript, PassesOnWhatIsWaitedFor) {
  RespClient listener = RespClient::unix_socket(server_.unix_path());
  ASSERT_EQ(listener.call({"SUBSCRIBE", "redlock:wake:next"}).elements.size(), 3U);
  hold("a", "ta");
  hold("b", "tb");
  redis::Encoder encoder;
  client_.send_raw(encoder.encode(Verb::take, ScriptForm::text, redis::Dialect::classic, "b",
                                  Token::parse("other").value(), seconds(60), 0,
                                  {.client = "next", .ticket = 0}));
  ASSERT_EQ(client_.read().elements.at(0).integer, -1);
  EXPECT_EQ(numbers(release({"a", "b"})), (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(server_.get("a"), std::nullopt);
  EXPECT_EQ(server_.get("b"), "redlock:next:next");
  EXPECT_GT(server_.pttl("b"), 10'000);
}

/// On nodes of its own: their commands are counted.
class ReleasesOfAClient : public testing::Test {
 protected:
  AsyncClient client() {
    auto created = AsyncClient::create(patient(nodes_.urls()), loop_.get());
    EXPECT_TRUE(succeeded(created));
    return *std::move(created);
  }
  template <typename Condition>
  void run_until(Condition condition) {
    const auto limit = BootClock::now() + seconds(60);
    while (!condition() && BootClock::now() < limit) uv_run(loop_.get(), UV_RUN_NOWAIT);
    ASSERT_TRUE(condition());
  }
  static std::string name(std::size_t i) { return std::string("r").append(std::to_string(i)); }
  std::vector<Lease> acquire(AsyncClient& client, std::size_t count) {
    std::vector<Lease> leases;
    for (std::size_t i = 0; i < count; ++i) {
      client.try_acquire(name(i), {}, [&](Result<Lease> lease) {
        EXPECT_TRUE(succeeded(lease));
        leases.push_back(*std::move(lease));
      });
    }
    run_until([&] { return leases.size() == count; });
    run_until([&] { return nodes_.count_held(name(count - 1)) == 3; });
    return leases;
  }
  /// All in one turn; a release counts in `ended_` when it is over.
  void begin_releases(AsyncClient& client, std::vector<Lease> leases) {
    for (Lease& lease : leases) {
      client.release(std::move(lease), [this](const Result<RoundReport>& round) {
        EXPECT_TRUE(succeeded(round));
        ++ended_;
      });
    }
  }
  void close(AsyncClient& client) {
    bool closed = false;
    client.close([&](const CloseReport&) { closed = true; });
    run_until([&] { return closed; });
  }

  Nodes nodes_ = Nodes(3);
  uv::Loop loop_;
  std::size_t ended_ = 0;
};

TEST_F(ReleasesOfAClient, OfOneTurnAreOneCallOfEachNode) {
  AsyncClient client = ReleasesOfAClient::client();
  std::vector<Lease> leases = acquire(client, 50);
  const int before = calls(nodes_[0], "evalsha");
  begin_releases(client, std::move(leases));
  std::optional<Lease> again;
  client.try_acquire("r0", {}, [&](Result<Lease> lease) {
    ASSERT_TRUE(succeeded(lease)) << "asked for behind its release";
    again = *std::move(lease);
  });
  run_until([&] { return ended_ == 50 && again.has_value(); });
  EXPECT_EQ(calls(nodes_[0], "evalsha") - before, 1);
  EXPECT_TRUE(eventually([&] { return nodes_.count_held("r49") == 0; }));
  again.reset();
  close(client);
}

TEST_F(ReleasesOfAClient, WorkWhereTheScriptsWereForgotten) {
  AsyncClient client = ReleasesOfAClient::client();
  for (std::size_t time = 0; time < 2; ++time) {
    std::vector<Lease> leases = acquire(client, 5);
    for (RedisServer& node : nodes_) node.command({"SCRIPT", "FLUSH"});
    begin_releases(client, std::move(leases));
    run_until([&] { return ended_ == 5 * (time + 1U); });
    EXPECT_TRUE(eventually([&] { return nodes_.count_held("r4") == 0; }));
  }
  close(client);
}

}  // namespace
}  // namespace redlock::test
