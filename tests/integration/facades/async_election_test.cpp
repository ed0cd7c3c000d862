// P8, asynchronously: campaign, observe and resign on a client's loop, by callback and by co_await.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "integration/detached.hpp"
#include "integration/library.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class AsyncP8 : public testing::Test {
 protected:
  [[nodiscard]] static ElectionOptions candidate(std::string name) {
    ElectionOptions options;
    options.candidate = std::move(name);
    options.ttl = seconds(20);
    options.poll_interval = milliseconds(5);
    return options;
  }

  [[nodiscard]] Result<Leadership> campaign(AsyncElection& election) {
    std::promise<Result<Leadership>> elected;
    election.campaign([&](Result<Leadership> leader) { elected.set_value(std::move(leader)); });
    return elected.get_future().get();
  }

  AsyncClient client_ = make_async_client(patient(shared_urls(5)));
  AsyncClient other_ = make_async_client(patient(shared_urls(5)));
  std::string name_ = fresh_resource();
};

TEST_F(AsyncP8, OneLeadsAndATermIsLargerThanTheOneBefore) {
  AsyncElection a(client_, name_, candidate("a"));
  AsyncElection b(other_, name_, candidate("b"));
  auto first = campaign(a);
  ASSERT_TRUE(succeeded(first));
  EXPECT_TRUE(first->valid());
  std::promise<Result<Leadership>> refused;
  b.try_campaign([&](Result<Leadership> leader) { refused.set_value(std::move(leader)); });
  const auto held = refused.get_future().get();
  ASSERT_TRUE(failed_with(held, Errc::held));
  EXPECT_EQ(who_refused(held).value().token.value().name(), "a");
  std::promise<Result<std::optional<Leader>>> seen;
  b.leader([&](Result<std::optional<Leader>> leader) { seen.set_value(std::move(leader)); });
  const auto leader = seen.get_future().get();
  ASSERT_TRUE(succeeded(leader));
  ASSERT_TRUE(*leader);
  EXPECT_EQ((*leader)->candidate, "a");
  const auto term = first->term();
  std::promise<Result<Round>> resigned;
  a.resign(*std::move(first), [&](Result<Round> r) { resigned.set_value(std::move(r)); });
  ASSERT_TRUE(succeeded(resigned.get_future().get()));
  auto second = campaign(b);
  ASSERT_TRUE(succeeded(second));
  EXPECT_GT(second->term(), term);
}

TEST_F(AsyncP8, CampaignsGoOnWithoutTheElectionAndEndWithTheClient) {
  AsyncElection a(client_, name_, candidate("a"));
  const auto leader = campaign(a);
  ASSERT_TRUE(succeeded(leader));
  std::promise<Errc> cancelled;
  std::promise<Errc> closed;
  std::promise<Errc> late;
  {
    AsyncElection b(other_, name_, candidate("b"));
    const RequestId request =
        b.campaign([&](Result<Leadership> r) { cancelled.set_value(r.error().code); });
    b.try_campaign_for(milliseconds(1),
                       [&](Result<Leadership> r) { late.set_value(r.error().code); });
    AsyncElection(b).campaign([&](Result<Leadership> r) { closed.set_value(r.error().code); });
    other_.cancel(request);
  }
  EXPECT_EQ(cancelled.get_future().get(), Errc::cancelled);
  // Some nodes may not be connected at this time.
  EXPECT_THAT(late.get_future().get(), testing::AnyOf(Errc::held, Errc::unavailable));
  AsyncElection outlives(other_, name_);
  other_ = make_async_client(patient(shared_urls(5)));
  EXPECT_EQ(closed.get_future().get(), Errc::closed);
  EXPECT_TRUE(failed_with(campaign(outlives), Errc::closed));
}

TEST_F(AsyncP8, ObserversAreNotifiedOfEveryChange) {
  AsyncElection election(client_, name_, candidate("a"));
  AsyncElection observer(other_, name_, candidate(""));
  std::mutex mutex;
  std::vector<std::string> seen;
  const auto last = [&] {
    const std::lock_guard lock(mutex);
    return seen.empty() ? std::string() : seen.back();
  };
  const RequestId observation = observer.observe([&](Result<std::optional<Leader>> leader) {
    const std::lock_guard lock(mutex);
    seen.push_back(!leader   ? std::string(to_string(leader.error().code))
                   : *leader ? (*leader)->candidate
                             : "nobody");
  });
  EXPECT_TRUE(eventually([&] { return last() == "nobody"; }));
  {
    const auto leader = campaign(election);
    ASSERT_TRUE(succeeded(leader));
    EXPECT_TRUE(eventually([&] { return last() == "a"; }));
  }
  EXPECT_TRUE(eventually([&] { return last() == "nobody"; }));
  observer.cancel(observation);
  EXPECT_TRUE(eventually([&] { return last() == "cancelled"; }));
  EXPECT_EQ(seen, (std::vector<std::string>{"nobody", "a", "nobody", "cancelled"}));
}

Detached serve(AsyncElection election, AsyncElection other, std::promise<std::string>& done) {
  std::string said;
  auto leader = co_await election.campaign();
  said += leader ? "elected" : leader.error().message;
  const auto refused = co_await other.try_campaign();
  said += refused ? "!" : ", " + std::string(to_string(refused.error().code));
  // No node may have answered at this time.
  const auto late = co_await other.try_campaign_for(milliseconds(1));
  said += late ? "!" : ", late";
  const auto too_late = co_await other.try_campaign_until(BootClock::now());
  said += too_late ? "!" : ", " + std::string(to_string(too_late.error().code));
  const auto seen = co_await other.leader();
  said += seen && *seen ? ", " + (*seen)->candidate + " leads" : "?";
  const auto resigned = co_await election.resign(*std::move(leader));
  said += resigned ? ", resigned" : resigned.error().message;
  std::stop_source stop;
  std::function<void(const std::optional<Leader>&)> none;
  const auto mistake = co_await election.observe(std::move(none), stop.get_token());
  said += mistake ? "!" : ", " + std::string(to_string(mistake.error().code));
  done.set_value(said);
}

TEST_F(AsyncP8, EveryCallCanBeAwaited) {
  std::promise<std::string> done;
  serve(AsyncElection(client_, name_, candidate("a")), AsyncElection(other_, name_), done);
  EXPECT_EQ(done.get_future().get(),
            "elected, held, late, held, a leads, resigned, invalid_argument");
}

Detached follow(AsyncElection election, std::stop_token stop,
                std::function<void(const std::optional<Leader>&)> changed,
                std::promise<Result<std::uint64_t>>& done) {
  auto changes = co_await election.observe(std::move(changed), std::move(stop));
  done.set_value(std::move(changes));
}

Detached stand(AsyncElection election, std::stop_token stop, std::promise<Errc>& done) {
  const auto leader = co_await election.campaign(std::move(stop));
  done.set_value(leader ? Errc::would_block : leader.error().code);
}

TEST_F(AsyncP8, AStopRequestEndsWhatIsAwaited) {
  AsyncElection a(client_, name_, candidate("a"));
  const auto leader = campaign(a);
  ASSERT_TRUE(succeeded(leader));
  std::stop_source stop;
  std::promise<Errc> cancelled;
  stand(AsyncElection(other_, name_, candidate("b")), stop.get_token(), cancelled);
  std::promise<void> leader_seen;
  std::promise<Result<std::uint64_t>> observed;
  const auto changed = [&](const std::optional<Leader>& now) {
    if (now && now->candidate == "a") leader_seen.set_value();
  };
  follow(AsyncElection(other_, name_, candidate("")), stop.get_token(), changed, observed);
  leader_seen.get_future().get();
  stop.request_stop();
  EXPECT_EQ(cancelled.get_future().get(), Errc::cancelled);
  const auto changes = observed.get_future().get();
  ASSERT_TRUE(succeeded(changes));
  EXPECT_EQ(*changes, 1U);
}

}  // namespace
}  // namespace redlock::test
