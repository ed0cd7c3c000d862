// The tables and the JSON of `list`, and the screen of `top`.

#include "quorum-lock/locks/lock_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/session/screen.hpp"
#include "common/session/table.hpp"
#include "common/text/text.hpp"
#include "quorum-lock/verbs/top_view.hpp"

namespace redlock::cli {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const Style plain(false);

admin::ListedLock held(std::string resource, const std::string& holder = "token") {
  admin::ListedLock lock;
  lock.resource = std::move(resource);
  lock.kind = LockKind::exclusive;
  lock.state = admin::ListedLock::State::held;
  lock.holder = Token::parse(holder);
  lock.remaining = 8s;
  lock.nodes = 3;
  return lock;
}

admin::LockList list_of(std::vector<admin::ListedLock> locks) {
  admin::LockList list;
  list.locks = std::move(locks);
  for (const char* url : {"redis://a", "redis://b", "redis://c"}) {
    admin::ListedNode node;
    node.url = url;
    list.nodes.push_back(node);
  }
  list.quorum = 2;
  list.answered = 3;
  list.complete = true;
  return list;
}

std::string row_of(admin::ListedLock lock) {
  return lock_lines(plain, list_of({std::move(lock)})).at(1);
}

nlohmann::json json_of(const admin::LockList& list) {
  return nlohmann::json::parse(list_json(list));
}

TEST(CliTable, HasColumnsAsWideAsTheirContents) {
  constexpr std::array<Column, 2> columns{{{"A"}, {"LONG"}}};
  EXPECT_THAT(table_lines(plain, columns, {{{"µµµ"}, {"x"}}, {{"b"}, {"y"}}}),
              ElementsAre("A    LONG", "µµµ  x", "b    y"));
}

TEST(CliTable, NarrowsTheColumnsThatMayBeNarrowedAndCutsTheRest) {
  constexpr std::array<Column, 2> columns{{{"A", 3}, {"B"}}};
  const std::vector<std::vector<Cell>> rows{{{"123456789"}, {"whole"}}};
  EXPECT_THAT(table_lines(plain, columns, rows, 12), ElementsAre("A      B", "1234…  whole"));
  EXPECT_THAT(table_lines(plain, columns, rows, 8), ElementsAre("A    B", "12…  wh…"));
  EXPECT_THAT(table_lines(plain, columns, rows, 1), ElementsAre("A", "…"));
  EXPECT_THAT(table_lines(plain, columns, rows, 0), Each(""));
}

TEST(CliTable, CountsNoColoursAsWidth) {
  constexpr std::array<Column, 2> columns{{{"A"}, {"B"}}};
  const auto lines = table_lines(Style(true), columns, {{{"x", Style::Colour::bad}, {"y"}}}, 4);
  EXPECT_THAT(lines, ElementsAre("\x1b[2mA\x1b[0m  \x1b[2mB\x1b[0m", "\x1b[31mx\x1b[0m  y"));
}

TEST(CliText, IsShortenedBetweenCharacters) {
  EXPECT_EQ(shortened("äöü", 3), "äöü");
  EXPECT_EQ(shortened("äöü", 2), "ä…");
  EXPECT_EQ(shortened("äöü", 1), "…");
  EXPECT_EQ(shortened("äöü", 0), "");
  EXPECT_EQ(width_of("8 µs"), 4U);
  EXPECT_EQ(width_of(""), 0U);
  EXPECT_EQ(width_of("漢字 x"), 6U);
  EXPECT_EQ(shortened("漢字漢字", 8), "漢字漢字");
  EXPECT_EQ(shortened("漢字漢字", 7), "漢字漢…");
  EXPECT_EQ(shortened("漢字漢字", 6), "漢字…");
}

TEST(CliList, ShowsTheHolderInWords) {
  EXPECT_THAT(row_of(held("r")), testing::MatchesRegex("r +exclusive +held +token +8.* +- +3/3"));
  EXPECT_THAT(row_of(held("r", std::string(40, 'a') + ":me@host:1 job")),
              HasSubstr("me@host:1 job"));
  admin::ListedLock lock = held("r", "");
  lock.kind = LockKind::shared;
  lock.holds = 1;
  EXPECT_THAT(row_of(lock), HasSubstr("1 reader "));
  lock.kind = LockKind::owned;
  lock.owner = "import";
  lock.holds = 2;
  EXPECT_THAT(row_of(lock), HasSubstr("owner import, 2 holds"));
  lock = held("encoders", "");
  lock.permits = 3;
  EXPECT_THAT(row_of(lock), HasSubstr("semaphore  held   3 permits held"));
  lock = admin::ListedLock();
  lock.resource = "r";
  lock.waiters = 2;
  EXPECT_THAT(row_of(lock), testing::MatchesRegex("r +- +free +- +- +2 +0/3"));
}

TEST(CliList, ShowsWhoBrokeWhatNobodyCanAcquireYet) {
  const admin::ListedLock delay = held("r", "0123456789abcdef" + std::string(24, '0') + ":on call");
  EXPECT_THAT(row_of(delay), HasSubstr("held   broken by on call  8.000 s"));
  const auto json = json_of(list_of({delay, held("s", std::string(40, 'a') + ":on call")}));
  EXPECT_EQ(json["locks"][0]["delay"], true);
  EXPECT_EQ(json["locks"][0]["holder_name"], "on call");
  EXPECT_EQ(json["locks"][1]["delay"], false);
}

TEST(CliList, NamesTheClientUnlessTheTokenHasAName) {
  admin::ListedLock lock = held("r");
  lock.holder_name = "host:7 worker";
  EXPECT_THAT(row_of(lock), HasSubstr("host:7 worker"));
  EXPECT_EQ(json_of(list_of({lock}))["locks"][0]["holder_name"], "host:7 worker");
  lock.holder = Token::parse(std::string(40, 'a') + ":candidate");
  EXPECT_THAT(row_of(lock), HasSubstr("candidate"));
  EXPECT_EQ(json_of(list_of({lock}))["locks"][0]["holder_name"], "candidate");
}

TEST(CliList, KeepsNamesFromTheTerminal) {
  EXPECT_THAT(row_of(held("a\x1b[2J\n", "b\xff")), testing::StartsWith("a\\x1b[2J\\x0a  "));
  EXPECT_THAT(row_of(held("a", "b\xff")), HasSubstr("b\\xff"));
}

TEST(CliList, HasOneJsonObject) {
  admin::ListedLock readers = held("s", "");
  readers.kind = LockKind::shared;
  readers.holds = 4;
  readers.waiters = 1;
  admin::ListedLock permits = held("p", "");
  permits.permits = 2;
  const auto json = json_of(
      list_of({held("r", std::string(40, 'a') + ":me"), readers, permits, admin::ListedLock()}));
  EXPECT_EQ(json["complete"], true);
  EXPECT_EQ(json["quorum"], 2);
  EXPECT_EQ(json["nodes"][2]["url"], "redis://c");
  EXPECT_EQ(json["nodes"][2]["complete"], true);
  const auto& locks = json["locks"];
  EXPECT_EQ(locks[0]["resource"], "r");
  EXPECT_EQ(locks[0]["kind"], "exclusive");
  EXPECT_EQ(locks[0]["state"], "held");
  EXPECT_EQ(locks[0]["holder"], std::string(40, 'a') + ":me");
  EXPECT_EQ(locks[0]["holder_name"], "me");
  EXPECT_EQ(locks[0]["remaining_ms"], 8000);
  EXPECT_EQ(locks[0]["waiters"], 0);
  EXPECT_EQ(locks[0]["nodes_count"], 3);
  EXPECT_EQ(locks[1]["kind"], "shared");
  EXPECT_EQ(locks[1]["holds"], 4);
  EXPECT_TRUE(locks[1]["holder"].is_null());
  EXPECT_TRUE(locks[1]["holder_name"].is_null());
  EXPECT_TRUE(locks[1]["owner"].is_null());
  EXPECT_EQ(locks[2]["kind"], "semaphore");
  EXPECT_EQ(locks[2]["permits_held"], 2);
  EXPECT_EQ(locks[3]["kind"], "none");
  EXPECT_EQ(locks[3]["state"], "free");
}

TEST(CliList, SaysWhatIsMissingFromIt) {
  admin::LockList list = list_of({});
  EXPECT_THAT(list_warnings(list, 10), IsEmpty());
  list.nodes[0].error = "connection refused";
  list.nodes[1].stopped_early = true;
  list.nodes[2].unread = 2;
  EXPECT_THAT(list_warnings(list, 10),
              ElementsAre("redis://a: connection refused", HasSubstr("redis://b: the list is not"),
                          HasSubstr("2 keys cannot be read")));
  EXPECT_THAT(list_warnings(list, 10).at(1), HasSubstr("after 10 keys; see --limit"));
  const auto json = json_of(list);
  EXPECT_EQ(json["nodes"][0]["message"], "connection refused");
  EXPECT_EQ(json["nodes"][0]["complete"], false);
  EXPECT_EQ(json["nodes"][1]["complete"], false);
  EXPECT_EQ(json["nodes"][2]["complete"], false);
}

TEST(CliList, CountsTheStates) {
  EXPECT_EQ(lock_summary(list_of({})), "0 resources");
  EXPECT_EQ(lock_summary(list_of({held("r")})), "1 resource: 1 held");
  EXPECT_EQ(lock_summary(list_of({held("r"), held("s"), admin::ListedLock()})),
            "3 resources: 2 held, 1 free");
}

TopFacts facts_of(std::size_t nodes, std::size_t locks) {
  TopFacts facts;
  for (std::size_t i = 0; i < nodes; ++i) {
    admin::NodeCheck node;
    node.url = "redis://10.0.0." + std::to_string(i) + ":6379";
    node.reachable = true;
    node.run_id = "abc";
    node.marked = true;
    node.membership = admin::MemberReport::State::member;
    node.round_trip = 180us;
    node.server = "Redis";
    node.server_version = "7.0.15";
    node.used_memory = 1'572'864;
    facts.check.nodes.push_back(node);
  }
  for (std::size_t i = 0; i < locks; ++i) {
    facts.list.locks.push_back(held("resource-" + std::to_string(100 + i)));
  }
  facts.list.nodes.resize(nodes);
  facts.list.answered = nodes;
  facts.list.quorum = nodes / 2 + 1;
  return facts;
}

TEST(CliTop, ShowsNodesAndLocks) {
  TopFacts facts = facts_of(3, 2);
  facts.check.nodes[1].quarantine = 12s;
  facts.check.nodes[1].max_memory = 67'108'864;
  facts.check.nodes[2].reachable = false;
  facts.check.nodes[2].run_id = "";
  const auto lines = top_lines(plain, facts, 120, 24);
  ASSERT_THAT(lines, SizeIs(10));
  EXPECT_EQ(lines[0], "quorum-lock top  3 of 3 nodes answer, quorum 2  2 resources: 2 held");
  EXPECT_THAT(lines[1], HasSubstr("NODE"));
  EXPECT_THAT(lines[2], testing::MatchesRegex("redis://10.0.0.0:6379 +member +180.*s +Redis 7.0.15 "
                                              "+1.5 MiB +-"));
  EXPECT_THAT(lines[3], HasSubstr("1.5 MiB of 64.0 MiB"));
  EXPECT_THAT(lines[3], HasSubstr("12"));
  EXPECT_THAT(lines[4], HasSubstr("unreachable"));
  EXPECT_EQ(lines[5], "");
  EXPECT_THAT(lines[6], HasSubstr("RESOURCE"));
  EXPECT_THAT(lines[7], HasSubstr("resource-100"));
  EXPECT_EQ(lines[9], "q quits");
}

TEST(CliTop, SpeaksOfOneNodeAsOne) {
  const auto lines = top_lines(plain, facts_of(1, 1), 120, 24);
  EXPECT_THAT(lines[0], HasSubstr("top  1 of 1 node answers, quorum"));
}

TEST(CliTop, CountsWhatHasNoRoom) {
  const auto lines = top_lines(plain, facts_of(3, 50), 100, 12);
  ASSERT_THAT(lines, SizeIs(12));
  EXPECT_EQ(lines[10], "… 47 more");
  EXPECT_EQ(lines[11], "q quits");
  const auto crowded = top_lines(plain, facts_of(15, 50), 100, 24);
  ASSERT_THAT(crowded, SizeIs(24));
  EXPECT_THAT(crowded, testing::Contains("… 6 more")) << "of the nodes";
  EXPECT_THAT(crowded, testing::Contains("… 42 more")) << "of the locks";
}

TEST(CliTop, NeverExceedsTheWindow) {
  TopFacts facts = facts_of(5, 20);
  facts.warnings = {std::string(300, 'w'), "redis://a: down"};
  for (std::size_t width = 0; width < 130; ++width) {
    for (const std::size_t height : {0U, 1U, 2U, 3U, 4U, 5U, 8U, 13U, 39U}) {
      const auto lines = top_lines(plain, facts, width, height);
      EXPECT_LE(lines.size(), height);
      for (const std::string& line : lines) ASSERT_LE(width_of(line), width) << line;
    }
  }
}

TEST(CliTop, ShowsWarningsAndTooFewNodes) {
  TopFacts facts = facts_of(3, 1);
  facts.warnings = {"redis://a: connection\x1b refused"};
  facts.list.answered = 1;
  const auto lines = top_lines(Style(true), facts, 100, 24);
  EXPECT_THAT(lines[0], testing::StartsWith("\x1b[31mquorum-lock top  1 of 3"));
  EXPECT_THAT(lines, testing::Contains(HasSubstr("connection\\x1b refused")));
}

TEST(CliTop, WritesMemoryInTheUnitThatSuits) {
  EXPECT_EQ(memory_text(0), "0 B");
  EXPECT_EQ(memory_text(1023), "1023 B");
  EXPECT_EQ(memory_text(1536), "1.5 KiB");
  EXPECT_EQ(memory_text(UINT64_C(3) << 30U), "3.0 GiB");
  EXPECT_EQ(memory_text(UINT64_C(5) << 50U), "5120.0 TiB");
}

TEST(CliScreen, WritesEachLineOverTheOneBefore) {
  EXPECT_EQ(frame_text({"a", "b"}), "\x1b[Ha\x1b[K\r\nb\x1b[K\x1b[J");
  EXPECT_EQ(frame_text({}), "\x1b[H\x1b[J");
}

}  // namespace
}  // namespace redlock::cli
