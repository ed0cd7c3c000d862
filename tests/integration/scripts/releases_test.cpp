// Many releases in one call: the script on a real server, and a client that releases many locks in
// one turn of its loop.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "integration/guarded.hpp"
#include "integration/in_turns.hpp"
#include "integration/library.hpp"
#include "integration/scripts/shared_call_script.hpp"
#include "redis/batches/encoder.hpp"
#include "redis/requests/row.hpp"
#include "redis/requests/shared_call.hpp"
#include "support/encoding.hpp"
#include "support/fake_server.hpp"
#include "support/resp.hpp"
#include "support/resp_client.hpp"

namespace redlock::test {
namespace {

using core::ScriptForm;
using core::Verb;
using std::chrono::milliseconds;
using std::chrono::seconds;

class ReleasesScript : public SharedCallScript {
 protected:
  Reply release(const std::vector<std::string>& resources,
                core::Duration reserved_for = seconds(20)) {
    core::Terms terms;
    terms.reserved_for = reserved_for;
    return call(Verb::release, resources, terms);
  }
  void hold(const std::string& resource, const std::string& token) {
    SharedCallScript::hold(resource, token, "60000");
  }
  /// Queues the client "next" for the held resource.
  void queue_next_for(const std::string& resource) {
    ASSERT_EQ(next_.call({"SUBSCRIBE", "redlock:wake:next"}).elements.size(), 3U);
    redis::Encoder encoder;
    client_.send_raw(test::encode(encoder, Verb::take, ScriptForm::text, redis::Dialect::classic,
                                  resource, Token::parse("other").value(), seconds(60), 0,
                                  {.client = "next", .ticket = 0}));
    ASSERT_EQ(client_.read().elements.at(0).integer, -1);
  }

  RespClient next_ = RespClient::unix_socket(server_.unix_path());
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

TEST_F(ReleasesScript, DoesWithoutMget) {
  hold("a", "ta");
  hold("b", "tb");
  hold("c", "somebody");
  server_.command({"HSET", "d", "field", "value"});
  server_.command({"ACL", "SETUSER", "default", "-mget"});
  EXPECT_EQ(release({"a", "b"}).integer, 2);
  hold("a", "ta");
  EXPECT_EQ(numbers(release({"a", "b", "c", "d"})), (std::vector<std::int64_t>{1, 0, -1, -1}));
  hold("a", "ta");
  server_.command({"ACL", "SETUSER", "default", "-get"});
  const Reply denied = release({"a", "b"});
  ASSERT_EQ(denied.elements.size(), 2U) << denied;
  EXPECT_TRUE(denied.elements[0].is_error()) << denied;
}

TEST_F(ReleasesScript, OneAloneIsDeletedWithoutATableOfAnswers) {
  hold("a", "ta");
  EXPECT_EQ(release({"a"}).integer, 1);
  EXPECT_EQ(server_.get("a"), std::nullopt);
  EXPECT_EQ(calls(server_, "mget"), 0);
}

TEST_F(ReleasesScript, OneAloneIsAnsweredAsOneOfMany) {
  hold("b", "somebody");
  server_.command({"HSET", "d", "field", "value"});
  EXPECT_EQ(numbers(release({"b"})), std::vector<std::int64_t>{-1});
  EXPECT_EQ(numbers(release({"c"})), std::vector<std::int64_t>{0});
  EXPECT_EQ(numbers(release({"d"})), std::vector<std::int64_t>{-1});
  EXPECT_EQ(server_.get("b"), "somebody");
}

TEST_F(ReleasesScript, PassesOnWhatIsWaitedFor) {
  hold("a", "ta");
  hold("b", "tb");
  queue_next_for("b");
  EXPECT_EQ(numbers(release({"a", "b"})), (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(server_.get("a"), std::nullopt);
  EXPECT_EQ(server_.get("b"), "redlock:next:next");
  EXPECT_GT(server_.pttl("b"), 10'000);
}

TEST_F(ReleasesScript, PassesOnOneAlone) {
  hold("b", "tb");
  queue_next_for("b");
  EXPECT_EQ(numbers(release({"b"})), std::vector<std::int64_t>{1});
  EXPECT_EQ(server_.get("b"), "redlock:next:next");
}

TEST_F(ReleasesScript, ReservesAsUsualWhereTheCallDoesNotSay) {
  hold("b", "tb");
  queue_next_for("b");
  RespClient monitor = RespClient::unix_socket(server_.unix_path());
  ASSERT_TRUE(monitor.call({"MONITOR"}).is_ok());
  EXPECT_EQ(numbers(release({"b"}, core::shortest_reservation)), std::vector<std::int64_t>{1});
  std::string line;
  while (line.find(R"("set" "b" "redlock:next:next" "PX")") == std::string::npos) {
    line = monitor.read().string;
  }
  EXPECT_TRUE(line.ends_with(R"("PX" "20")")) << line;
}

/// Releases of many leases in one turn of the loop; each counts in `ended_` when it has ended.
class ReleasesInTurns : public InTurns {
 protected:
  /// Begins all releases in one turn.
  void begin_releases(AsyncClient& client, std::vector<Lease> leases) {
    for (Lease& lease : leases) {
      client.release(std::move(lease), [this](const Result<Round>& round) {
        EXPECT_TRUE(succeeded(round));
        ++ended_;
      });
    }
  }

  std::size_t ended_ = 0;
};

/// Has its own nodes, because their commands are counted.
class ReleasesOfAClient : public ReleasesInTurns {
 protected:
  Nodes nodes_ = Nodes(3);
};

TEST_F(ReleasesOfAClient, OfOneTurnAreOneCallOfEachNode) {
  ClientOptions options = patient(nodes_.urls());
  options.node.plain_commands = false;
  AsyncClient client = create(std::move(options));
  std::vector<Lease> leases = acquire_many(client, nodes_, 50);
  const int before = calls(nodes_[0], "evalsha");
  begin_releases(client, std::move(leases));
  std::optional<Lease> again;
  client.try_acquire("r0", {}, [&](Result<Lease> lease) {
    ASSERT_TRUE(succeeded(lease)) << "asked for behind its release";
    again = *std::move(lease);
  });
  run_until([&] { return ended_ == 50 && again.has_value(); });
  EXPECT_EQ(calls(nodes_[0], "evalsha") - before, 1);
  run_until([&] { return nodes_.count_held("r49") == 0; });
  again.reset();
  close(client);
}

TEST_F(ReleasesOfAClient, WorkWhereTheScriptsWereForgotten) {
  AsyncClient client = create(patient(nodes_.urls()));
  for (std::size_t time = 0; time < 2; ++time) {
    std::vector<Lease> leases = acquire_many(client, nodes_, 5);
    for (RedisServer& node : nodes_) node.command({"SCRIPT", "FLUSH"});
    begin_releases(client, std::move(leases));
    run_until([&] { return ended_ == 5 * (time + 1U); });
    run_until([&] { return nodes_.count_held("r4") == 0; });
  }
  close(client);
}

/// Nodes of several versions: Redis 6.2 has no SET with NX and GET, so each node gets its own form
/// of a request, in the same order.
class ReleasesOfMixedNodes : public ReleasesInTurns {
 protected:
  ReleasesOfMixedNodes() {
    for (FakeServer* node : nodes_) {
      node->on("SET", [](const Command& command) {
        return asks_for_the_holder(command) ? resp::nil() : resp::status("OK");
      });
      // The answer is the number of locks in the call.
      node->on("EVALSHA",
               [](const Command& command) { return resp::integer(std::stoi(command[2])); });
    }
  }
  static bool asks_for_the_holder(const Command& command) {
    return std::find(command.begin(), command.end(), "GET") != command.end();
  }
  /// The lock requests that a node received.
  static std::string asked(const FakeServer& node) {
    std::string all;
    for (const Command& command : node.commands()) {
      const bool of_a_lock = command.size() > 1 && command[1].size() == 1;
      if (command[0] == "SET" && of_a_lock) {
        all += asks_for_the_holder(command) ? "set-get " : "set ";
      }
      if (command[0] == "EVALSHA") all += command[2] + " released ";
    }
    return all;
  }

  FakeServer new_{FakeRedis{.run_id = std::string(40, '1')}};
  FakeServer old_{FakeRedis{.run_id = std::string(40, '2'), .version = "6.2.14"}};
  FakeServer another_{FakeRedis{.run_id = std::string(40, '3')}};
  std::array<FakeServer*, 3> nodes_{&new_, &old_, &another_};
};

TEST_F(ReleasesOfMixedNodes, StayInTheOrderOfWhatWasAskedFor) {
  ClientOptions options = of_fakes({new_.url(), old_.url(), another_.url()});
  options.guards.clock = false;  // these clocks stand still
  AsyncClient client = create(std::move(options));
  const auto were_asked = [&](const std::string& expected, const std::string& of_old) {
    return asked(new_) == expected && asked(another_) == expected && asked(old_) == of_old;
  };
  std::vector<Lease> leases = acquire(client, {"a", "b"});
  run_until([&] { return were_asked("set-get set-get ", "set set "); });
  begin_releases(client, std::move(leases));
  leases = acquire(client, {"a"});
  run_until(
      [&] { return were_asked("set-get set-get 2 released set-get ", "set set 2 released set "); });
  EXPECT_EQ(ended_, 2U);
  static_cast<void>(leases.front().detach());
  close(client);
}

}  // namespace
}  // namespace redlock::test
