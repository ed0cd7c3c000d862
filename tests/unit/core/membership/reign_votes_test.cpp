// The votes of a primary with replicas count only with a reading of its reign after them.

#include <gtest/gtest.h>

#include <string>

#include "core/membership/marker.hpp"
#include "core/membership/reign.hpp"
#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

/// Three members, of which the first is a primary with two replicas.
struct Replicated : Harness {
  Replicated() : Harness(settings()) {
    tick();
    acquire(100, 10s);  // a client that wants no lock writes nothing
    cancel(100);
  }
  static Settings settings() {
    Settings settings = settings_for(3);
    settings.nodes[0] += "?servers=3";
    settings.restart_guard = true;
    settings.quarantine = 31s;
    return settings;
  }
  static Marker blank(NodeIndex node) {
    Marker marker;
    marker.incarnation = "i";
    marker.run_id = "server" + std::to_string(node);
    marker.replid = "r";
    marker.max_ttl = 30s;
    return marker;
  }
  static Marker member(NodeIndex node) {
    Marker marker = blank(node);
    marker.state = Marker::State::active;
    marker.deployment = "D";
    marker.members = settings().nodes;
    marker.self = marker.members[node];
    return marker;
  }
  static std::string text(const Marker& marker) { return format_marker(marker) + " 1"; }
  std::string come_up(NodeIndex node, const Marker& marker, Duration quarantine = {}) {
    const std::string known = text(marker);
    NodeUp event;
    event.marker = known;
    event.quarantine = quarantine;
    if (node == 0) event.reign = record;
    event.primary = "10.0.0.7:6379";
    return up_as(node, event);
  }
  /// The primary says who follows.
  std::string followed_by(std::uint64_t acknowledged) {
    return reign_answer(0, text(member(0)), {record, acknowledged, 10, acknowledged});
  }
  static constexpr std::string_view record = "reign1 server0 r 17 10";
};

TEST(ReignVotes, CountWhileAMajorityFollowsThePrimary) {
  for (const std::uint64_t followers : {0U, 1U}) {
    Replicated h;
    h.come_up(0, Replicated::member(0));
    h.come_up(1, Replicated::member(1));
    h.acquire(1, 10s);
    h.end_turn();
    EXPECT_EQ(h.answers({0, 1}, Reply::granted), "");
    EXPECT_EQ(h.answer(1, Reply::marker, Replicated::text(Replicated::member(1))), "");
    const std::string out = h.followed_by(followers);
    EXPECT_EQ(out.find("acquired #1") != std::string::npos, followers > 0) << out;
    EXPECT_EQ(h.engine().exclusion(0).find("up to date") != std::string::npos, followers == 0);
  }
}

TEST(ReignVotes, DoNotCountWithTheAnswerToTheWritingOfAMarker) {
  Replicated h;
  h.come_up(0, Replicated::member(0));
  h.come_up(1, Replicated::member(1));
  h.come_up(2, Replicated::blank(2));
  h.acquire(1, 10s);
  EXPECT_EQ(h.answer(2, Reply::marker, Replicated::text(Replicated::blank(2))), "write-marker 0");
  const Request* const request = request_in(h.commands().back());
  ASSERT_NE(request, nullptr);
  const std::string written = request->terms.marker->text + " 2";
  EXPECT_EQ(h.answers({0, 1}, Reply::granted), "");
  const std::string out = h.marker_answer(0, written, 0s);
  EXPECT_NE(out.find("disconnect 0"), std::string::npos) << out;
  EXPECT_EQ(out.find("acquired"), std::string::npos) << out;
}

TEST(ReignVotes, TheDelayAfterABreakNeedsThemToo) {
  for (const std::uint64_t followers : {0U, 1U}) {
    Replicated h;
    h.come_up(0, Replicated::member(0));
    h.come_up(1, Replicated::member(1));
    ReleaseToken event{CallId{1}, "r", *Token::parse("abc")};
    event.by_operator = true;
    event.delay = 5s;
    h.step(event);
    EXPECT_NE(h.end_turn().find("read-reign -> 0"), std::string::npos);
    EXPECT_EQ(h.answer(0, Reply::released), "") << "held back";
    h.answer(1, Reply::released);
    const std::string out = h.followed_by(followers);
    EXPECT_EQ(out.find("released #1") != std::string::npos, followers > 0) << out;
  }
}

TEST(ReignVotes, AServerThatIsAReplicaNowIsNoticedAlthoughTooFewMembersVote) {
  Replicated h;
  h.come_up(0, Replicated::member(0));
  h.come_up(1, Replicated::blank(1));
  h.come_up(2, Replicated::blank(2));
  h.acquire(1, 10s);
  // Nobody is asked for a vote. A replica has the marker too, so its marker alone proves nothing.
  h.tick();
  const std::string looks = h.pass(1s);
  EXPECT_NE(looks.find("read-reign -> 0"), std::string::npos) << looks;
  EXPECT_NE(looks.find("read-marker -> 1"), std::string::npos) << looks;
}

TEST(ReignVotes, OfAnotherNumberOfServersAreNone) {
  for (const char* name : {"node0", "node0?servers=5"}) {
    Replicated h;
    Marker marker = Replicated::member(0);
    marker.self = marker.members[0] = name;
    h.come_up(0, marker);
    EXPECT_NE(h.engine().exclusion(0).find("must agree how many servers"), std::string::npos);
  }
}

/// A primary that nobody has confirmed.
struct NewPrimary : Replicated {
  /// `found`: the record of the primary before; empty: there was none.
  explicit NewPrimary(std::string found) : before(std::move(found)) {
    NodeUp event;
    event.reign = before;
    known = text(member(0));
    event.marker = known;
    event.primary = "10.0.0.7:6379";
    up_as(0, event);
    acquire(1, 10s);
    end_turn();
  }
  /// Its answers to the readings that are under way. It has no record of its own.
  std::string says(std::uint64_t acknowledged) {
    std::string out;
    while (true) {
      if (is_next(0, Verb::read_marker)) {
        answer(0, Reply::marker, known);
      } else if (is_next(0, Verb::read_reign)) {
        out += reign_answer(0, known, {before, acknowledged, 10, acknowledged});
      } else {
        return out;
      }
    }
  }
  std::string before;
  std::string known;
};

TEST(ReignVotes, TheReasonSpeaksOfNoPrimaryBeforeTheFirstOne) {
  NewPrimary h("");
  h.says(0);
  EXPECT_EQ(h.engine().exclusion(0),
            "its servers are new or have lost their data; its primary is 10.0.0.7:6379: 1 of its 3 "
            "servers is up to date; 2 are needed; then no new locks for 30 s (max TTL)");
  NodeUp event;
  event.marker = h.known;
  event.reign = Replicated::record;
  event.quarantine = 29s;
  event.quarantine_why =
      "its servers are new or have lost their data and may have forgotten leases that are still "
      "valid";
  h.up_as(0, event);
  EXPECT_EQ(h.engine().exclusion(0),
            "quarantined for 29 s more: " + std::string(event.quarantine_why));
}

TEST(ReignVotes, TheReasonNamesTheNewPrimaryAndSaysForHowLongThereAreNoLocks) {
  NewPrimary h("reign1 other id 17 10");
  EXPECT_EQ(h.engine().exclusion(0),
            "it has a new primary, 10.0.0.7:6379: it is not known yet how many of its servers "
            "follow; then no new locks for 30 s (max TTL)");
  h.says(0);
  EXPECT_EQ(h.engine().exclusion(0),
            "it has a new primary, 10.0.0.7:6379: 1 of its 3 servers is up to date; 2 are needed; "
            "then no new locks for 30 s (max TTL)");
  h.pass(1s);
  EXPECT_NE(h.says(1).find("write-reign -> 0"), std::string::npos);
  EXPECT_EQ(h.engine().exclusion(0),
            "it has a new primary, 10.0.0.7:6379: no new locks for 30 s (max TTL)");
  // It refuses to write the record.
  h.answer(0, Reply::error, "NOPERM 'eval'");
  EXPECT_EQ(
      h.engine().exclusion(0),
      "it has a new primary, 10.0.0.7:6379: the record of its reign cannot be written: NOPERM "
      "'eval'");
  h.pass(1s);
  EXPECT_EQ(h.says(1), "write-reign -> 0");
  EXPECT_NE(h.answer(0, Reply::done).find("disconnect 0"), std::string::npos);
  NodeUp event;
  event.marker = h.known;
  event.reign = Replicated::record;
  event.primary = "10.0.0.7:6379";
  event.quarantine = 29s;
  event.quarantine_why = "its primary is new and may have forgotten leases that are still valid";
  h.up_as(0, event);
  EXPECT_EQ(h.engine().exclusion(0),
            "it has a new primary, 10.0.0.7:6379: no new locks for 29 s more: leases of the one "
            "before may still be valid");
}

TEST(ReignVotes, TheReasonNamesTheCommandThatTheUserMayNotRun) {
  Replicated h;
  h.come_up(0, Replicated::member(0));
  h.come_up(1, Replicated::member(1));
  h.acquire(1, 10s);
  h.end_turn();
  ReignReading refused;
  refused.refused = "WAIT";
  h.answer(0, Reply::granted);
  const std::string out = h.reign_answer(0, "NOPERM no rights", refused);
  EXPECT_NE(out.find("disconnect 0"), std::string::npos) << out;
  EXPECT_EQ(h.engine().link(0).contact->failure().why,
            "it does not show whether its servers follow: it refused WAIT: NOPERM no rights");
}

TEST(ReignVotes, AClientWithAnotherMaxTtlIsToldThatAndNotThatThePrimaryIsNew) {
  Replicated h;
  Marker marker = Replicated::blank(0);
  marker.max_ttl = 5s;
  NodeUp event;
  const std::string known = Replicated::text(marker);
  event.marker = known;
  h.up_as(0, event);
  EXPECT_NE(h.engine().exclusion(0).find("a client with a max TTL of 5 s has met it"),
            std::string::npos)
      << h.engine().exclusion(0);
}

TEST(ReignVotes, ARecordThatIsWrittenAmongThemEndsTheConnectionAndNothingElse) {
  Replicated h;
  h.come_up(0, Replicated::member(0));
  h.come_up(1, Replicated::member(1));
  h.acquire(1, 10s);
  h.end_turn();
  h.acquire(2, 10s);
  h.answer(0, Reply::granted);
  // The reign is over: both replicas were away, and all servers answer.
  const auto reading = [&] {
    return h.reign_answer(0, Replicated::text(Replicated::member(0)),
                          {Replicated::record, 2, 12, 2});
  };
  EXPECT_NE(reading().find("write-reign -> 0"), std::string::npos);
  h.end_turn();
  EXPECT_EQ(h.answer(0, Reply::granted), "");
  EXPECT_EQ(h.answer(0, Reply::done), "") << "held back, behind a vote";
  // Another client has changed the record meanwhile, so that ours was not written.
  const std::string out = reading();
  EXPECT_NE(out.find("disconnect 0"), std::string::npos) << out;
}

/// A deployment of one node, which is a primary with two replicas. Its lease is held when another
/// server becomes the primary.
struct Failover : Harness {
  Failover() : Harness(settings()) {
    tick();
    acquire(1, 10s);
    come_up("server0");
    end_turn();
    answer(0, Reply::granted);
    says("server0");
    pass(1s);
    down(0);
  }
  static Settings settings() {
    Settings settings = Replicated::settings();
    settings.nodes.resize(1);
    settings.quorum = 1;
    return settings;
  }
  std::string marker() const {
    Marker marker = Replicated::member(0);
    marker.members = settings().nodes;
    marker.self = marker.members[0];
    marker.run_id = primary;
    return Replicated::text(marker);
  }
  static std::string record_of(const std::string& server) {
    return "reign1 " + server + " r 17 10";
  }
  std::string come_up(const std::string& server, Duration quarantine = Duration::zero()) {
    return come_up(server, quarantine, record_of(server));
  }
  std::string come_up(const std::string& server, Duration quarantine, const std::string& record) {
    primary = server;
    const std::string known = marker();
    NodeUp event;
    event.marker = known;
    event.reign = record;
    event.quarantine = quarantine;
    return up_as(0, event);
  }
  /// What the client does if the primary extends its lock, and then reads the record of `server`.
  std::string extended_under(const std::string& server) {
    end_turn();
    // The duty may have read before.
    if (is_next(0, Verb::extend)) {
      EXPECT_EQ(answer(0, Reply::extended), "") << "held back";
    }
    return says(server);
  }
  std::string says(const std::string& server) {
    return reign_answer(0, marker(), {record_of(server), 1, 10, 1});
  }
  std::string primary;
};

TEST(ReignVotes, ALeaseOutlivesAFailoverIfTheNewPrimaryHasItsKey) {
  Failover h;
  h.come_up("server1", 31s);
  EXPECT_EQ(h.extend(2, 10s), "extend t1 -> 0");
  const std::string out = h.extended_under("server1");
  EXPECT_NE(out.find("extended #2"), std::string::npos) << out;
  // And from then on, as always.
  h.pass(5s);
  h.extend(3, 10s);
  EXPECT_NE(h.extended_under("server1").find("extended #3"), std::string::npos);
  h.acquire(4, 10s);
  EXPECT_EQ(h.end_turn(), "") << "nobody else gets a lock before the end of the quarantine";
}

TEST(ReignVotes, ALeaseIsNotExtendedInAReignThatBeganAfterTheClientConnected) {
  for (const std::string& record : {std::string(), Failover::record_of("server0")}) {
    Failover h;
    h.come_up("server1", 31s, record);
    h.extend(2, 10s);
    const std::string out = h.extended_under("server1");
    EXPECT_NE(out.find("disconnect 0"), std::string::npos) << out;
    EXPECT_NE(out.find("failed #2"), std::string::npos) << out;
  }
}

TEST(ReignVotes, AmongOtherNodesANewPrimaryExtendsNothingInItsQuarantine) {
  for (const Duration quarantine : {Duration(0s), Duration(31s)}) {
    Replicated h;
    const auto confirm = [&] {
      const std::string out = h.followed_by(1);
      return out + h.answer(1, Reply::marker, Replicated::text(Replicated::member(1)));
    };
    h.come_up(0, Replicated::member(0));
    h.come_up(1, Replicated::member(1));
    h.acquire(1, 10s);
    h.end_turn();
    h.answers({0, 1}, Reply::granted);
    EXPECT_NE(confirm().find("acquired #1"), std::string::npos);
    h.down(0);
    h.come_up(0, Replicated::member(0), quarantine);
    h.extend(2, 10s);
    h.end_turn();
    h.answers({0, 1}, Reply::extended);
    const std::string out = confirm();
    EXPECT_EQ(out.find("extended #2") != std::string::npos, quarantine == 0s) << out;
  }
}

TEST(ReignVotes, ByItsTokenALeaseIsNotExtendedAfterAFailover) {
  Failover h;
  h.come_up("server1", 31s);
  h.step(ExtendToken{CallId{2}, "resource", *Token::parse("t1"), 10s, {}});
  const std::string out = h.extended_under("server1");
  EXPECT_NE(out.find("failed #2"), std::string::npos) << out;
}

}  // namespace
}  // namespace redlock::core::test
