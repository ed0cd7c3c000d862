// Intervals that are longer than the quarantine of nodes that forgot.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "integration/guarded.hpp"

namespace redlock::test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;

class IntervalMemory : public testing::Test {
 protected:
  [[nodiscard]] ClientOptions options() const {
    ClientOptions options = impatient(nodes_.urls());
    options.max_ttl = short_max_ttl;
    return options;
  }

  Nodes nodes_{5, {}, short_max_ttl};
};

TEST_F(IntervalMemory, ANodeThatForgotAndTwoThatHungMakeNoSecondRun) {
  nodes_[3].stop();
  nodes_[4].stop();
  {
    Client client = make_client(options());
    auto run = acquire_patiently(client, interval("r", minutes(10)), {.ttl = short_max_ttl});
    ASSERT_TRUE(succeeded(run));
    ASSERT_TRUE(succeeded(run->release()));
  }
  nodes_[2].restart(Data::wipe);
  nodes_[3].resume();
  nodes_[4].resume();
  Client client = client_that_locks(options());
  ASSERT_TRUE(eventually([&] { return is_member(nodes_[2]); }, seconds(60)));
  ASSERT_TRUE(soon_out_of_quarantine(nodes_[2]));
  EXPECT_FALSE(client.try_acquire(interval("r", minutes(10)), {.ttl = short_max_ttl}))
      << "those that know of the run are needed, or one that has forgotten it";
  nodes_[0].kill();
  nodes_[1].kill();
  // The three remaining nodes vote for locks; none of them knows of the run.
  ASSERT_TRUE(succeeded(acquire_patiently(client, "other", {.ttl = short_max_ttl})));
  EXPECT_EQ(nodes_.count_held("r"), 0U);

  const auto second = client.try_acquire(interval("r", minutes(10)), {.ttl = short_max_ttl});
  ASSERT_TRUE(failed_with(second, Errc::excluded));
  EXPECT_THAT(second.error().message, HasSubstr("forgotten that an interval goes on"));
  EXPECT_THAT(second.error().message, HasSubstr("; wait "));
  EXPECT_EQ(second.error().round.nodes.at(2).vote, Vote::excluded);
  EXPECT_GT(second.error().round.nodes.at(2).remaining, minutes(5));

  // A node votes on an interval that is no longer than the time it remembers.
  EXPECT_TRUE(
      succeeded(acquire_patiently(client, interval("s", short_max_ttl), {.ttl = short_max_ttl})));
}

}  // namespace
}  // namespace redlock::test
