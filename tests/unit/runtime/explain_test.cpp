#include "runtime/explain.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <string>

namespace redlock::runtime {
namespace {

using std::chrono::seconds;
using testing::EndsWith;

/// Three nodes, two of which refuse.
RoundReport refused_by(const std::string& holder) {
  RoundReport report;
  report.quorum = 2;
  report.nodes.resize(3);
  for (std::size_t node = 0; node < 2; ++node) {
    report.nodes[node].vote = Vote::refused;
    report.nodes[node].holder = holder;
    report.nodes[node].remaining = seconds(4);
  }
  return report;
}

std::string held_by(const std::string& holder, std::uint32_t permits = 0) {
  return explain(Errc::held, "r", refused_by(holder), permits).message;
}

TEST(Explain, NamesTheHolderByItsTokenOrItsName) {
  EXPECT_EQ(held_by("0123456789abcdef0123456789abcdef01234567"),
            "held on 'r': refused 2, not waited for 1 of 3; holder 0123456789ab…, 4 s left");
  EXPECT_THAT(held_by("0123456789abcdef0123456789abcdef01234567:nightly"),
              EndsWith("; holder nightly, 4 s left"));
  EXPECT_THAT(held_by("owner nightly"), EndsWith("; holder owner nightly, 4 s left"));
}

TEST(Explain, SaysWhatIsInTheWayWhereThatIsNoSingleHolder) {
  EXPECT_THAT(held_by("shared"), EndsWith("; held by readers, 4 s left"));
  EXPECT_THAT(held_by("writer"), EndsWith("; somebody waits, and new holds are refused, 4 s left"));
  EXPECT_THAT(held_by("redlock:cooldown"), EndsWith("; its interval is not over, 4 s left"));
  EXPECT_THAT(held_by("redlock:next:0123"),
              EndsWith("; reserved for the client that is next, 4 s left"));
  const std::string keeper = "0123456789abcdef" + std::string(24, '0');
  EXPECT_THAT(held_by(keeper + ":on call"), EndsWith("; broken by on call, free in 4 s"));
  EXPECT_THAT(held_by(keeper), EndsWith("; broken by 0123456789ab…, free in 4 s"));
  EXPECT_THAT(held_by("", 3), EndsWith("; all 3 permits are taken, 4 s left"));
}

}  // namespace
}  // namespace redlock::runtime
