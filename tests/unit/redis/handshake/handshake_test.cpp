#include "redis/handshake/handshake.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redis/handshake/capability_rows.hpp"
#include "redis/handshake/loaded_scripts.hpp"
#include "redis/values/dialect.hpp"
#include "redis/values/keys.hpp"
#include "support/resp.hpp"
#include "unit/redis/values.hpp"

namespace redlock::redis {
namespace {

using Progress = Handshake::Progress;
using core::Capability;

Dialect dialect_for(const ServerIdentity& identity) { return dialect_of(identity.capabilities); }

std::string info(const std::string& version) {
  return "# Server\r\nredis_version:" + version +
         "\r\nredis_mode:standalone\r\nrun_id:abc\r\nmaster_replid:repl\r\n";
}

std::string the_rest() {
  std::string out = test::resp::command({"CLIENT", "ID"}) + test::resp::command({"INFO"});
  for (const CommandRow& row : command_rows) {
    out += test::resp::command({row.question().begin(), row.question().end()});
  }
  out += test::resp::command({"CLIENT", "SETNAME", "redlock"});
  for (const auto& script : loaded_scripts) {
    out += test::resp::command({"SCRIPT", "LOAD", std::string(script.text)});
  }
  return out + test::resp::command({"GET", "redlock:node:marker"}) +
         test::resp::command({"GET", "redlock:node:quarantine"}) +
         test::resp::command({"PTTL", "redlock:node:quarantine"});
}

ServerIdentity identify(const std::string& version) {
  std::string out;
  Handshake handshake({}, out);
  EXPECT_EQ(handshake.take(integer(1)), Progress::more);
  EXPECT_EQ(handshake.take(bulk(info(version))), Progress::more);
  return handshake.identity();
}

TEST(Handshake, AsksOnlyForWhatIsNeeded) {
  std::string out;
  const Handshake handshake({}, out);
  EXPECT_EQ(out, the_rest());
}

TEST(Handshake, ProvesWhoItIsBeforeAnythingElse) {
  const auto requests = [](const ConnectionTarget& target) {
    std::string out;
    const Handshake handshake(target, out);
    return out;
  };
  EXPECT_EQ(requests({.password = "pw"}), test::resp::command({"AUTH", "pw"}) + the_rest());
  EXPECT_EQ(requests({.user = "u", .password = "pw", .db = 12}),
            test::resp::command({"AUTH", "u", "pw"}) + test::resp::command({"SELECT", "12"}) +
                the_rest());
  EXPECT_EQ(requests({.user = "u"}), test::resp::command({"AUTH", "u", ""}) + the_rest());
}

TEST(Handshake, IsDoneWhenEverythingIsAnswered) {
  std::string out;
  Handshake handshake({.password = "pw", .db = 1}, out);
  EXPECT_EQ(handshake.take(status("OK")), Progress::more);
  EXPECT_EQ(handshake.take(status("OK")), Progress::more);
  EXPECT_EQ(handshake.take(integer(77)), Progress::more);
  EXPECT_EQ(handshake.take(bulk(info("7.0.15"))), Progress::more);
  for (std::size_t i = 0; i < command_rows.size(); ++i) {
    EXPECT_EQ(handshake.take(error("ERR unknown")), Progress::more);
  }
  EXPECT_EQ(handshake.take(error("NOPERM no CLIENT SETNAME")), Progress::more);
  EXPECT_EQ(handshake.take(error("LOADING")), Progress::more);
  for (std::size_t i = 2; i < loaded_scripts.size(); ++i) {
    EXPECT_EQ(handshake.take(bulk("sha")), Progress::more);
  }
  EXPECT_EQ(handshake.take(bulk("sha")), Progress::more);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(handshake.take(error("NOPERM")), Progress::more);
  EXPECT_EQ(handshake.take(error("NOPERM")), Progress::done);
  EXPECT_EQ(handshake.identity().run_id, "abc");
  EXPECT_EQ(handshake.identity().connection_id, 77);
  EXPECT_EQ(handshake.identity().version, "7.0.15");
  EXPECT_EQ(handshake.identity().product, "Redis 7.0.15");
  EXPECT_EQ(dialect_for(handshake.identity()), Dialect::with_get);
}

TEST(Handshake, TheVersionDecidesHowSetIsAsked) {
  EXPECT_EQ(dialect_for(identify("7.0.0")), Dialect::with_get);
  EXPECT_EQ(dialect_for(identify("8.2")), Dialect::with_get);
  EXPECT_EQ(dialect_for(identify("255.255.255")), Dialect::with_get);
  EXPECT_EQ(dialect_for(identify("6.2.14")), Dialect::classic);
  EXPECT_EQ(dialect_for(identify("5.0")), Dialect::classic);
  EXPECT_EQ(dialect_for(identify("unstable")), Dialect::classic);
  EXPECT_EQ(dialect_for(identify("99999999999999")), Dialect::classic);
}

TEST(Handshake, ARefusalNamesTheCommandAndTheReason) {
  const auto why = [](const ConnectionTarget& target, const std::vector<Value>& answers) {
    std::string out;
    Handshake handshake(target, out);
    Progress progress = Progress::more;
    for (const Value& answer : answers) progress = handshake.take(answer);
    EXPECT_EQ(progress, Progress::refused);
    return handshake.why();
  };
  EXPECT_EQ(why({.password = "pw"}, {error("WRONGPASS invalid username-password pair")}),
            "AUTH: WRONGPASS invalid username-password pair");
  EXPECT_EQ(why({.db = 99}, {error("ERR DB index is out of range")}),
            "SELECT: ERR DB index is out of range");
  EXPECT_EQ(why({}, {error("NOAUTH Authentication required.")}),
            "CLIENT ID: NOAUTH Authentication required.");
  EXPECT_EQ(why({}, {integer(1), error("NOPERM no INFO")}), "INFO: NOPERM no INFO");
  EXPECT_EQ(why({}, {integer(1), bulk("# Server\r\nredis_version:7.0.0\r\n")}),
            "INFO: no run_id or no redis_version in it");
}

TEST(Handshake, FindsOutWhoCanHaveNoVote) {
  const auto ineligible = [](const std::string& more) {
    std::string out;
    Handshake handshake({}, out);
    EXPECT_EQ(handshake.take(integer(1)), Progress::more);
    EXPECT_EQ(handshake.take(bulk(info("7.0.15") + more)), Progress::more);
    return handshake.identity().ineligible;
  };
  EXPECT_EQ(ineligible("role:master\r\nmaxmemory_policy:noeviction\r\ncluster_enabled:0\r\n"), "");
  EXPECT_EQ(ineligible("role:slave\r\nmaster_host:m\r\nmaster_port:7\r\n"),
            "it is a replica of m:7, and no independent master");
  EXPECT_EQ(ineligible("cluster_enabled:1\r\n"),
            "it is a server of a cluster, which may move a key to another server: such a node is "
            "named 'redis+cluster://HOST;HOST/?servers=N'");
  ConnectionTarget named;
  named.tag = std::make_shared<HashTag>("{t}");
  std::string out;
  Handshake handshake(named, out);
  EXPECT_EQ(handshake.take(integer(1)), Progress::more);
  EXPECT_EQ(handshake.take(bulk(info("7.0.15") + "cluster_enabled:1\r\n")), Progress::more);
  EXPECT_EQ(handshake.identity().ineligible, "") << "the node is named as a cluster";
  named.guard = RestartGuard{.replicated = true};
  out.clear();
  Handshake old(named, out);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(old.take(i == 0 ? integer(1) : status("OK")), Progress::more);
  EXPECT_EQ(old.take(bulk(info("6.2.14"))), Progress::more);
  EXPECT_EQ(old.identity().ineligible,
            "a primary with replicas needs Redis 7.0 or later, and this is Redis 6.2.14");
  EXPECT_EQ(ineligible("maxmemory_policy:allkeys-lru\r\n"),
            "it may evict locks: maxmemory-policy is allkeys-lru, must be noeviction");
}

TEST(Handshake, KnowsASentinelByTheNamesThatForksGaveTheField) {
  for (const char* field : {"redis_mode", "server_mode", "redict_mode"}) {
    std::string out;
    Handshake handshake({}, out);
    EXPECT_EQ(handshake.take(integer(1)), Progress::more);
    EXPECT_EQ(handshake.take(
                  bulk(std::string(field) + ":sentinel\r\nredis_version:7.2.4\r\nrun_id:a\r\n")),
              Progress::more);
    EXPECT_EQ(handshake.identity().ineligible, "it is a sentinel, which keeps no keys") << field;
  }
}

/// A handshake that has reached the guard's script and its answer.
struct Guarded {
  explicit Guarded(const std::string& more = "",
                   const Value& tracking = error("ERR unknown command"),
                   const std::string& version = "7.0.15", const Value& loaded = status("OK"),
                   bool marks = true) {
    ConnectionTarget target;
    target.guard = RestartGuard{std::chrono::seconds(30),
                                std::chrono::milliseconds(30'302),
                                false,
                                "redis://a",
                                "fresh",
                                marks};
    handshake.emplace(target, out);
    progress = handshake->take(integer(1));
    progress = handshake->take(error("ERR unknown command 'HELLO'"));
    progress = handshake->take(tracking);
    progress = handshake->take(bulk(info(version) + more));
    while (progress == Progress::more) progress = handshake->take(loaded);
    if (progress == Progress::ask) ask();
  }
  void ask() {
    out.clear();
    handshake->ask(out);
  }
  /// Gives guard_node() its six answers.
  Progress take_reading(const Value& marker, std::int64_t quarantine_left) {
    progress = handshake->take(status("OK"));
    progress = handshake->take(marker);
    progress = handshake->take(integer(quarantine_left));
    progress = handshake->take(Value());
    progress = handshake->take(Value());
    const Value whole_seconds = bulk("1700000000");
    const Value and_microseconds = bulk("5");
    return take({whole_seconds, and_microseconds});
  }
  Progress take(std::vector<Value> values) {
    Value array;
    array.type = Value::Type::array;
    for (const Value& value : values) array.elements.push_back(&value);
    return handshake->take(array);
  }
  std::string out;
  Progress progress{};
  std::optional<Handshake> handshake;
};

TEST(Handshake, ComparesTheMarkerBeforeAVoteIsAskedFor) {
  Guarded guarded;
  EXPECT_EQ(guarded.progress, Progress::ask);
  EXPECT_EQ(guarded.out,
            test::resp::command({"EVAL", std::string(scripts::guard.text), "3",
                                 "redlock:node:marker", "redlock:node:quarantine",
                                 "redlock:node:numbers", "abc", "repl", "unknown", "unknown",
                                 "30000", "30302", "volatile", "redis://a", "fresh", "mark"}));
  EXPECT_EQ(guarded.take({bulk("redlock3 …"), integer(0), bulk("")}), Progress::done);
  EXPECT_EQ(guarded.handshake->identity().marker, "redlock3 …");
  EXPECT_EQ(guarded.handshake->identity().quarantine, std::chrono::milliseconds(0));
}

TEST(Handshake, OfAClientThatMarksNothingSaysWhatIsNotMarked) {
  const std::string own = "redlock3 blank i - abc repl 30000 volatile redis://a - - 5";
  const std::string of_before = "redlock3 blank i - old repl 30000 volatile redis://a - - 5";
  for (const std::string& marker : {own, of_before, std::string()}) {
    Guarded guarded("", error("ERR"), "7.0.15", status("OK"), false);
    EXPECT_TRUE(guarded.out.ends_with("look\r\n"));
    EXPECT_EQ(guarded.take({bulk(marker), integer(0), bulk("")}), Progress::done);
    EXPECT_EQ(guarded.handshake->identity().marker, marker);
    EXPECT_EQ(guarded.handshake->identity().unmarked, marker != own);

    Guarded without_scripts("", error("ERR"), "7.2.4", error("NOPERM no script"), false);
    EXPECT_EQ(without_scripts.take_reading(bulk(marker), -2), Progress::ask);
    without_scripts.ask();
    EXPECT_EQ(without_scripts.out, test::resp::command({"UNWATCH"}));
    EXPECT_EQ(without_scripts.handshake->take(status("OK")), Progress::done);
    EXPECT_EQ(without_scripts.handshake->identity().unmarked, marker != own);
  }
}

TEST(Handshake, OfAClientThatMarksNothingSaysWhichNumberOfEvictionsWasReset) {
  const std::string with_five = "redlock3 blank i - abc repl+5 30000 volatile redis://a - - 5";
  struct Case {
    std::string info;
    bool unmarked;
    bool outdated;
  };
  for (const Case& c : {Case{"maxmemory_policy:noeviction\r\nevicted_keys:5\r\n", false, false},
                        Case{"maxmemory_policy:noeviction\r\nevicted_keys:0\r\n", false, true},
                        Case{"maxmemory_policy:noeviction\r\nevicted_keys:4\r\n", true, false},
                        Case{"evicted_keys:0\r\n", true, false}}) {
    Guarded guarded(c.info, error("ERR"), "7.0.15", status("OK"), false);
    EXPECT_EQ(guarded.take({bulk(with_five), integer(0), bulk("")}), Progress::done);
    EXPECT_EQ(guarded.handshake->identity().unmarked, c.unmarked) << c.info;
    EXPECT_EQ(guarded.handshake->identity().outdated, c.outdated) << c.info;
  }
}

/// While a server reads its append-only file, it says that it keeps none. By the time that the
/// guard's script arrives, the server may have read all of it.
TEST(Handshake, AServerThatIsLoadingIsAskedAgainLater) {
  const std::string persistence = "role:master\r\nloading:1\r\naof_enabled:0\r\n";
  Guarded guarded(persistence);
  EXPECT_EQ(guarded.progress, Progress::refused);
  EXPECT_EQ(guarded.handshake->why(), "INFO: LOADING, it is still reading its data");

  std::string out;
  Handshake handshake({}, out);
  EXPECT_EQ(handshake.take(integer(1)), Progress::more);
  EXPECT_EQ(handshake.take(bulk(info("7.0.15") + persistence)), Progress::refused);
}

TEST(Handshake, AReplicaThatIsLoadingIsKnownToBeOne) {
  const Guarded guarded("role:slave\r\nmaster_host:m\r\nmaster_port:7\r\nloading:1\r\n");
  EXPECT_EQ(guarded.progress, Progress::done);
  EXPECT_EQ(guarded.handshake->identity().ineligible,
            "it is a replica of m:7, and no independent master");
}

TEST(Handshake, WithTheGuardTracksWhatTheNodeForgetsFromBeforeInfoOn) {
  std::string out;
  const Handshake handshake({.guard = RestartGuard{}}, out);
  EXPECT_TRUE(out.starts_with(test::resp::command({"CLIENT", "ID"}) +
                              test::resp::command({"HELLO", "3"}) +
                              test::resp::command({"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"}) +
                              test::resp::command({"INFO"})));
}

TEST(Handshake, HasTheServerTrackNoKey) {
  // The server would track the key for ever, even after the connection.
  Guarded guarded("", status("OK"));
  EXPECT_EQ(guarded.out.find("CACHING"), std::string::npos);
  EXPECT_EQ(guarded.take({bulk("m"), integer(0), bulk("")}), Progress::done);
  EXPECT_TRUE(guarded.handshake->identity().capabilities.has(Capability::track));
}

TEST(Handshake, ServersThatTellOfOurOwnWritesAreAskedToTrackNothing) {
  Guarded old("", status("OK"), "6.2.14");
  EXPECT_EQ(old.take({bulk("m"), integer(0), bulk("")}), Progress::done);
  EXPECT_FALSE(old.handshake->identity().capabilities.has(Capability::track));
}

TEST(Handshake, TellsHowLongANodeIsQuarantinedAndWhy) {
  Guarded guarded;
  EXPECT_EQ(guarded.take({bulk("m"), integer(1234), bulk("restarted")}), Progress::done);
  EXPECT_EQ(guarded.handshake->identity().quarantine, std::chrono::milliseconds(1234));
  EXPECT_EQ(guarded.handshake->identity().quarantine_why,
            "it restarted and may have forgotten leases that are still valid");
}

/// The identity of a node for a client without the guard.
ServerIdentity identity_without_guard(const Value& why, std::int64_t left) {
  std::string out;
  Handshake handshake({}, out);
  static_cast<void>(handshake.take(integer(1)));
  static_cast<void>(handshake.take(bulk(info("7.0.15"))));
  for (std::size_t i = 0; i < command_rows.size() + 1 + loaded_scripts.size(); ++i) {
    EXPECT_EQ(handshake.take(status("OK")), Progress::more);
  }
  EXPECT_EQ(handshake.take(bulk("redlock3 …")), Progress::more);
  EXPECT_EQ(handshake.take(why), Progress::more);
  EXPECT_EQ(handshake.take(integer(left)), Progress::done);
  return handshake.identity();
}

TEST(Handshake, WithoutTheGuardTheMarkerIsOnlyRead) {
  const ServerIdentity identity = identity_without_guard({}, -2);
  EXPECT_EQ(identity.marker, "redlock3 …");
  EXPECT_EQ(identity.quarantine, std::chrono::milliseconds(0));
}

TEST(Handshake, WithoutTheGuardOnlyTheQuarantineOfAChangeOfTheMembersCounts) {
  EXPECT_EQ(identity_without_guard(bulk("restarted"), 1234).quarantine,
            std::chrono::milliseconds(0));
  const ServerIdentity changed = identity_without_guard(bulk("membership"), 1234);
  EXPECT_EQ(changed.quarantine, std::chrono::milliseconds(1234));
  EXPECT_NE(changed.quarantine_why.find("it was marked anew when an operator"), std::string::npos);
  EXPECT_GT(identity_without_guard(bulk("membership"), -1).quarantine, std::chrono::hours(24))
      << "without an end";
}

TEST(Handshake, AGuardThatCanNotBeExecutedRefusesTheConnection) {
  Guarded guarded;
  EXPECT_EQ(guarded.handshake->take(error("OOM command not allowed")), Progress::refused);
  EXPECT_EQ(guarded.handshake->why(), "restart guard: OOM command not allowed");
  EXPECT_EQ(Guarded().handshake->take(status("OK")), Progress::malformed);
  EXPECT_EQ(Guarded().take({bulk("m"), integer(-2), bulk("")}), Progress::malformed);
}

TEST(Handshake, FindsOutWhatTheServerComparesWithoutAScript) {
  const auto identity = [](const std::vector<std::string>& known) {
    std::string out;
    Handshake handshake({}, out);
    EXPECT_EQ(handshake.take(integer(1)), Progress::more);
    EXPECT_EQ(handshake.take(bulk(info("7.2.4"))), Progress::more);
    const Value key = bulk("key");
    Value keys;
    keys.type = Value::Type::array;
    keys.elements.push_back(&key);
    const Value unknown = error("ERR Invalid command specified");
    for (const CommandRow& row : command_rows) {
      const bool is_known = std::find(known.begin(), known.end(), row.words[2]) != known.end();
      EXPECT_EQ(handshake.take(is_known ? keys : unknown), Progress::more);
    }
    return handshake.identity();
  };
  const ServerIdentity none = identity({});
  EXPECT_FALSE(none.capabilities.has(Capability::compare));
  EXPECT_FALSE(none.capabilities.has(Capability::set_all));
  EXPECT_EQ(dialect_for(none), Dialect::with_get);
  const ServerIdentity valkey = identity({"DELIFEQ", "MSETEX"});
  EXPECT_TRUE(valkey.capabilities.has(Capability::compare));
  EXPECT_TRUE(valkey.capabilities.has(Capability::set_all));
  EXPECT_EQ(dialect_for(valkey), Dialect::with_get);
  const ServerIdentity redis = identity({"DELEX", "MSETEX"});
  EXPECT_TRUE(redis.capabilities.has(Capability::compare));
  EXPECT_EQ(dialect_for(redis), Dialect::with_delex);
  EXPECT_EQ(dialect_for(identity({"DELEX", "DELIFEQ"})), Dialect::with_get);
}

TEST(Handshake, WhereScriptsAreForbiddenTheGuardIsATransaction) {
  Guarded guarded("", error("ERR"), "7.2.4", error("NOPERM no script"));
  EXPECT_FALSE(guarded.handshake->identity().capabilities.has(Capability::run_scripts));
  EXPECT_EQ(guarded.out, test::resp::command({"WATCH", "redlock:node:marker",
                                              "redlock:node:quarantine", "redlock:node:numbers"}) +
                             test::resp::command({"GET", "redlock:node:marker"}) +
                             test::resp::command({"PTTL", "redlock:node:quarantine"}) +
                             test::resp::command({"GET", "redlock:node:quarantine"}) +
                             test::resp::command({"ZSCORE", "redlock:node:numbers", ""}) +
                             test::resp::command({"TIME"}));
  EXPECT_EQ(guarded.take_reading(Value(), -2), Progress::ask);
  guarded.ask();
  EXPECT_EQ(guarded.out,
            test::resp::command({"MULTI"}) +
                test::resp::command({"SET", "redlock:node:quarantine", "empty", "PX", "30302"}) +
                test::resp::command({"ZADD", "redlock:node:numbers", "1700000030302005", "", "inf",
                                     std::string(keys::longest_number_name)}) +
                test::resp::command({"SET", "redlock:node:marker",
                                     "redlock3 blank fresh - abc repl 30000 volatile redis://a - - "
                                     "1700000000000005"}) +
                test::resp::command({"EXEC"}));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(guarded.handshake->take(status("QUEUED")), Progress::more);
  EXPECT_EQ(guarded.take({}), Progress::done);
  EXPECT_EQ(guarded.handshake->identity().quarantine, std::chrono::milliseconds(30'302));
  EXPECT_TRUE(guarded.handshake->identity().marker.starts_with("redlock3 blank fresh"));
}

TEST(Handshake, ATransactionOfWhichACommandFailedRefusesTheConnection) {
  Guarded guarded("", error("ERR"), "7.2.4", error("NOPERM no script"));
  EXPECT_EQ(guarded.take_reading(Value(), -2), Progress::ask);
  guarded.ask();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(guarded.handshake->take(status("QUEUED")), Progress::more);
  EXPECT_EQ(guarded.take({status("OK"), error("WRONGTYPE x"), status("OK")}), Progress::refused);
  EXPECT_EQ(guarded.handshake->why(), "restart guard: WRONGTYPE x");
}

TEST(Handshake, ATransactionThatComesTooLateIsBegunAgain) {
  Guarded guarded("", error("ERR"), "7.2.4", error("NOPERM no script"));
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(guarded.take_reading(Value(), -2), Progress::ask);
    guarded.ask();
    for (int k = 0; k < 4; ++k) {
      EXPECT_EQ(guarded.handshake->take(status("QUEUED")), Progress::more);
    }
    EXPECT_EQ(guarded.handshake->take(Value()), Progress::ask);
    guarded.ask();
    EXPECT_TRUE(guarded.out.starts_with("*4\r\n$5\r\nWATCH"));
  }
  const Value marker = bulk("redlock3 blank other - abc repl 30000 volatile redis://a - - 5");
  EXPECT_EQ(guarded.take_reading(marker, 1234), Progress::ask);
  guarded.ask();
  EXPECT_EQ(guarded.out, test::resp::command({"UNWATCH"})) << "another client marked it";
  EXPECT_EQ(guarded.handshake->take(status("OK")), Progress::done);
  EXPECT_EQ(guarded.handshake->identity().marker, marker.text);
  EXPECT_EQ(guarded.handshake->identity().quarantine, std::chrono::milliseconds(1234));
}

TEST(Handshake, AServerWhoseEvalWasRenamedIsDoneWithoutScriptsIfItKnowsTheCommandsForThat) {
  const Value renamed = error("ERR unknown command 'EVAL', with args beginning with: 'local'");
  const Value key = bulk("key");
  Value known;
  known.type = Value::Type::array;
  known.elements.push_back(&key);
  Guarded guarded("", status("OK"), "9.1.0", known);
  EXPECT_EQ(guarded.handshake->take(renamed), Progress::ask);
  EXPECT_TRUE(guarded.handshake->identity().capabilities.has(Capability::compare));
  EXPECT_FALSE(guarded.handshake->identity().capabilities.has(Capability::run_scripts));

  Guarded older("", status("OK"));
  EXPECT_EQ(older.handshake->take(renamed), Progress::refused);
  EXPECT_EQ(older.handshake->why(),
            "restart guard: ERR unknown command 'EVAL'; it has neither EVAL nor DELIFEQ or DELEX "
            "in its place");
}

TEST(Handshake, AUserWhoMayLoadScriptsAndNotRunThemIsNoticedByTheGuard) {
  Guarded guarded("", status("OK"));
  EXPECT_EQ(guarded.handshake->take(error("NOPERM no EVAL")), Progress::ask);
  EXPECT_FALSE(guarded.handshake->identity().capabilities.has(Capability::run_scripts));
  guarded.ask();
  EXPECT_TRUE(guarded.out.starts_with("*4\r\n$5\r\nWATCH"));
  EXPECT_EQ(guarded.take_reading(Value(), -2), Progress::ask);
  guarded.ask();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(guarded.handshake->take(status("QUEUED")), Progress::more);
  EXPECT_EQ(guarded.take({}), Progress::done);
}

TEST(Handshake, AnUnfitServerIsNotWrittenTo) {
  EXPECT_EQ(Guarded("role:slave\r\n").progress, Progress::done);
}

TEST(Handshake, ARefusalNeverRepeatsThePassword) {
  const auto why = [](const std::string& message) {
    std::string out;
    Handshake handshake({.user = "u", .password = "hunter2"}, out);
    EXPECT_EQ(handshake.take(error(message)), Progress::refused);
    return handshake.why();
  };
  EXPECT_EQ(why("ERR unknown command `AUTH`, with args beginning with: `u`, `hunt"),
            "AUTH: ERR unknown command `AUTH`");
  EXPECT_EQ(why("WRONGPASS hunter2 is wrong"), "AUTH: WRONGPASS");
}

TEST(Handshake, AnswersThatNoRedisServerGivesAreMalformed) {
  std::string out;
  Handshake with_password({.password = "pw"}, out);
  EXPECT_EQ(with_password.take(integer(1)), Progress::malformed);
  Handshake with_id({}, out);
  EXPECT_EQ(with_id.take(bulk("1")), Progress::malformed);
  Handshake with_zero({}, out);
  EXPECT_EQ(with_zero.take(integer(0)), Progress::malformed);
  Handshake with_info({}, out);
  EXPECT_EQ(with_info.take(integer(1)), Progress::more);
  EXPECT_EQ(with_info.take(integer(1)), Progress::malformed);
  EXPECT_NE(with_info.why(), "");
}

}  // namespace
}  // namespace redlock::redis
