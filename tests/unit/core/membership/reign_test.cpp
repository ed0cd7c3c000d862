#include "core/membership/reign.hpp"

#include <gtest/gtest.h>

namespace redlock::core::test {
namespace {

TEST(ReignRecord, IsReadAsItWasWritten) {
  const ReignRecord record{"run", "id", std::chrono::microseconds(17), 3};
  EXPECT_EQ(format_reign(record), "reign1 run id 17 3");
  EXPECT_EQ(parse_reign(format_reign(record)), record);
}

TEST(ReignRecord, IsNothingElse) {
  for (const char* text :
       {"", "reign1", "reign1 run id 17", "reign1 run id 17 3 4", "reign1 run id 17 -3",
        "reign1 run id x 3", "reign1  id 17 3", "reign2 run id 17 3", "reign1 run id 17 3 ",
        "reign1 run id 17 99999999999999999999"}) {
    EXPECT_EQ(parse_reign(text), std::nullopt) << text;
  }
}

TEST(ReignRecord, IsOfOneProcessInOneRole) {
  Marker marker;
  marker.run_id = "run";
  marker.replid = "id+5";
  const ReignRecord record = reign_of(marker);
  EXPECT_EQ(head_of(record), "reign1 run id") << "evictions do not change who follows";
  EXPECT_TRUE(is_reign_of(record, marker));
  marker.replid = "other";
  EXPECT_FALSE(is_reign_of(record, marker)) << "it was a replica meanwhile";
  marker.replid = "id";
  marker.run_id = "again";
  EXPECT_FALSE(is_reign_of(record, marker));
}

TEST(ReignRecord, TheNameOfAMemberSaysHowManyServersItIs) {
  EXPECT_EQ(servers_of("redis://h:1"), 1U);
  EXPECT_EQ(servers_of("redis://servers=3:1"), 1U);
  EXPECT_EQ(servers_of("redis://h:1/2?servers=3"), 3U);
  EXPECT_EQ(servers_of("unix:///a?db=1&servers=5"), 5U);
  EXPECT_EQ(servers_of("unix:///a?servers=5&db=1"), 5U);
  EXPECT_EQ(servers_of("unix:///a?servers=x"), 1U);
}

}  // namespace
}  // namespace redlock::core::test
