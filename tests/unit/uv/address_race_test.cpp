// The order of a host's addresses, and when each is tried: on made-up instants.

#include "uv/address_race.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace redlock::uv::test {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

[[nodiscard]] Addresses ordered(const std::vector<std::string>& hosts) {
  Addresses list;
  for (const std::string& host : hosts) list.push_back(*parse_literal(host, 7000));
  return list;
}

TEST(AlternateFamilies, BeginsWithTheFamilyThatTheSystemPutsFirst) {
  EXPECT_EQ(alternate_families(ordered({"fd00::1", "fd00::2", "10.0.0.1", "10.0.0.2"})),
            ordered({"fd00::1", "10.0.0.1", "fd00::2", "10.0.0.2"}));
  EXPECT_EQ(alternate_families(ordered({"10.0.0.2", "10.0.0.1", "fd00::1"})),
            ordered({"10.0.0.2", "fd00::1", "10.0.0.1"}));
}

TEST(AlternateFamilies, LosesNoAddressOfTheLargerFamily) {
  EXPECT_EQ(alternate_families(ordered({"fd00::1", "10.0.0.1", "10.0.0.2", "10.0.0.3"})),
            ordered({"fd00::1", "10.0.0.1", "10.0.0.2", "10.0.0.3"}));
  EXPECT_EQ(alternate_families(ordered({"10.0.0.1", "10.0.0.2"})),
            ordered({"10.0.0.1", "10.0.0.2"}));
  EXPECT_EQ(alternate_families({}), Addresses());
}

/// The instants at which the addresses are tried if none of them answers.
[[nodiscard]] std::vector<milliseconds> begun_in_silence(std::size_t count, milliseconds limit) {
  AddressRace race(count, limit);
  std::vector<milliseconds> begun;
  for (std::optional<milliseconds> at = 0ms; at; at = race.next_at()) {
    if (!race.next(*at)) break;
    EXPECT_FALSE(race.next(*at)) << "only one at a time";
    begun.push_back(*at);
  }
  return begun;
}

TEST(AddressRace, TriesTheNextAddressAQuarterOfASecondAfterOneThatIsSilent) {
  EXPECT_EQ(begun_in_silence(1, 1s), (std::vector<milliseconds>{0ms}));
  EXPECT_EQ(begun_in_silence(2, 1s), (std::vector<milliseconds>{0ms, 250ms}));
  EXPECT_EQ(begun_in_silence(3, 1h), (std::vector<milliseconds>{0ms, 250ms, 500ms}));
}

TEST(AddressRace, TriesEveryAddressInTheFirstHalfOfTheLimit) {
  for (const std::size_t count : {1U, 2U, 3U, 8U, 16U}) {
    for (const milliseconds limit : {400ms, 1000ms, 5000ms}) {
      const std::vector<milliseconds> begun = begun_in_silence(count, limit);
      ASSERT_EQ(begun.size(), count);
      EXPECT_LE(begun.back(), limit / 2) << count << " addresses in " << limit.count() << " ms";
    }
  }
}

TEST(AddressRace, KeepsTheShortestDelayOfTheStandardWhateverTheLimit) {
  EXPECT_EQ(begun_in_silence(3, 1ms), (std::vector<milliseconds>{0ms, 10ms, 20ms}));
  EXPECT_EQ(begun_in_silence(2, 0ms), (std::vector<milliseconds>{0ms, 10ms}));
}

TEST(AddressRace, TriesTheNextAddressImmediatelyAfterTheLastOneFailed) {
  AddressRace race(3, 1s);
  ASSERT_EQ(race.next(0ms), 0U);
  EXPECT_FALSE(race.next(1ms));
  race.failed(0);
  EXPECT_EQ(race.next(1ms), 1U);
  EXPECT_FALSE(race.next(1ms));
}

TEST(AddressRace, LetsTheLastAddressHaveItsTimeWhenAnEarlierOneFails) {
  AddressRace race(3, 10s);
  ASSERT_EQ(race.next(0ms), 0U);
  ASSERT_EQ(race.next(250ms), 1U);
  race.failed(0);
  EXPECT_FALSE(race.next(251ms));
  EXPECT_EQ(race.next_at(), 500ms);
  EXPECT_EQ(race.next(500ms), 2U);
}

TEST(AddressRace, IsLostOnceEveryAddressHasFailed) {
  AddressRace race(2, 1s);
  ASSERT_EQ(race.next(0ms), 0U);
  ASSERT_EQ(race.next(250ms), 1U);
  EXPECT_EQ(race.next_at(), std::nullopt);
  race.failed(1);
  EXPECT_FALSE(race.lost()) << "the first one may still answer";
  race.failed(0);
  EXPECT_TRUE(race.lost());
  EXPECT_TRUE(AddressRace(0, 1s).lost());
}

}  // namespace
}  // namespace redlock::uv::test
