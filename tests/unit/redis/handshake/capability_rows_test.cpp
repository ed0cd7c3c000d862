// Reads the rows of the capability checks: a server answers each as the row says.

#include "redis/handshake/capability_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "redis/handshake/connection_target.hpp"
#include "redis/handshake/handshake.hpp"
#include "redis/values/dialect.hpp"
#include "support/resp.hpp"
#include "unit/redis/values.hpp"

namespace redlock::redis {
namespace {

using core::Capabilities;
using core::Capability;

/// The capabilities of a server of this version that tracks keys, lets our user run scripts, and
/// also knows these commands.
Capabilities capabilities_of(const std::string& version,
                             const std::vector<const CommandRow*>& known) {
  std::string out;
  Handshake handshake({.guard = RestartGuard{}}, out);
  const Value key = bulk("key");
  Value keys;
  keys.type = Value::Type::array;
  keys.elements.push_back(&key);
  test::RespParser asked;
  asked.feed(out);
  while (const auto command = asked.next()) {
    const auto asks = [&](const CommandRow* row) {
      return std::equal(command->elements.begin(), command->elements.end(), row->question().begin(),
                        row->question().end(),
                        [](const auto& word, auto expected) { return word.string == expected; });
    };
    const std::string& word = command->elements.at(0).string;
    Value answer = status("OK");
    if (word == "CLIENT" && command->elements.at(1).string == "ID") answer = integer(1);
    if (word == "INFO") answer = bulk("run_id:abc\r\nredis_version:" + version + "\r\n");
    if (word == "COMMAND") {
      const bool knows = std::any_of(known.begin(), known.end(), asks);
      answer = knows ? keys : error("ERR Invalid command specified");
    }
    EXPECT_NE(handshake.take(answer), Handshake::Progress::refused) << handshake.why();
  }
  return handshake.identity().capabilities;
}

std::string version_of(const VersionRow& row) { return std::to_string(row.since) + ".0.15"; }

TEST(CapabilityRows, AVersionGivesItsRowAndThoseOfOlderOnes) {
  for (const VersionRow& row : version_rows) {
    Capabilities expected;
    for (const VersionRow& older : version_rows) {
      if (older.since <= row.since) expected = expected.with(older.gives);
    }
    EXPECT_EQ(capabilities_of(version_of(row), {}), expected) << row.since;
  }
}

TEST(CapabilityRows, ACommandGivesItsRow) {
  const Capabilities without = capabilities_of("0", {});
  for (const CommandRow& row : command_rows) {
    EXPECT_EQ(capabilities_of("0", {&row}), without.with(row.gives)) << row.question()[2];
  }
}

TEST(CapabilityRows, ARowIsPassedOverForOneThatIsPreferred) {
  for (const CommandRow& row : command_rows) {
    if (!row.unless) continue;
    const auto preferred =
        std::find_if(command_rows.begin(), command_rows.end(),
                     [&](const CommandRow& other) { return other.gives.has(*row.unless); });
    ASSERT_LT(&*preferred, &row) << row.question()[2];
    EXPECT_EQ(capabilities_of("0", {&row, &*preferred}), capabilities_of("0", {&*preferred}));
  }
}

TEST(CapabilityRows, GiveEachCapabilityToSomeServer) {
  Capabilities seen;
  for (const VersionRow& row : version_rows) seen = seen.with(capabilities_of(version_of(row), {}));
  for (const CommandRow& row : command_rows) seen = seen.with(capabilities_of("0", {&row}));
  EXPECT_EQ(seen, Capabilities::all());
}

TEST(CapabilityRows, MakeTheDialect) {
  EXPECT_EQ(dialect_of({}), Dialect::classic);
  EXPECT_EQ(dialect_of({Capability::name_holder}), Dialect::with_get);
  EXPECT_EQ(dialect_of({Capability::name_holder, Capability::compare}), Dialect::with_get);
  EXPECT_EQ(
      dialect_of({Capability::name_holder, Capability::compare, Capability::compare_by_delex}),
      Dialect::with_delex);
}

}  // namespace
}  // namespace redlock::redis
