#include "redis/wire/releases.hpp"

#include <gtest/gtest.h>

#include <string>

#include "redis/scripts_embedded.hpp"
#include "support/resp.hpp"

namespace redlock::redis {
namespace {

using core::ScriptForm;
using std::chrono::milliseconds;
using test::resp::command;

TEST(Releases, AreOneCallWithTheResourcesFirstAndNoUsualReservation) {
  Releases releases;
  releases.add("r", "me");
  EXPECT_EQ(releases.size(), 1U);
  const std::string digest(scripts::releases.sha1);
  EXPECT_EQ(releases.encode(ScriptForm::digest, milliseconds(20)),
            command({"EVALSHA", digest, "1", "r", "me"}));
  releases.add("another", "you");
  EXPECT_EQ(releases.encode(ScriptForm::digest, milliseconds(40)),
            command({"EVALSHA", digest, "2", "r", "another", "me", "you", "40"}));
  EXPECT_EQ(releases.encode(ScriptForm::text, milliseconds(40)),
            command({"EVAL", std::string(scripts::releases.text), "2", "r", "another", "me", "you",
                     "40"}));
}

TEST(Releases, BeginAnewWhenCleared) {
  Releases releases;
  for (std::size_t i = 0; i < Releases::most; ++i) {
    EXPECT_FALSE(releases.full());
    releases.add("r" + std::to_string(i), "me");
  }
  EXPECT_TRUE(releases.full());
  releases.clear();
  EXPECT_EQ(releases.size(), 0U);
  releases.add("s", "you");
  EXPECT_EQ(releases.encode(ScriptForm::digest, milliseconds(20)),
            command({"EVALSHA", std::string(scripts::releases.sha1), "1", "s", "you"}));
}

TEST(Releases, TakeNamesOfAnyLength) {
  const std::string digest(scripts::releases.sha1);
  for (const std::size_t length : {1U, 9U, 10U, 127U, 128U, 129U, 512U}) {
    const std::string name(length, 'n');
    Releases releases;
    releases.add(name, "me");
    EXPECT_EQ(releases.encode(ScriptForm::digest, milliseconds(20)),
              command({"EVALSHA", digest, "1", name, "me"}));
  }
}

}  // namespace
}  // namespace redlock::redis
