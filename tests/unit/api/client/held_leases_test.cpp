// The leases that are not over: who ends one, and what its holder and the observer are told.

#include "api/client/held_leases.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/client/client_core.hpp"
#include "core/claim/claim.hpp"
#include "redlock/clock.hpp"
#include "runtime/boot_time.hpp"
#include "unit/core/anybody.hpp"

namespace redlock::api {
namespace {

struct HoldListener final : Observer {
  void hold_ended(const HoldObservation& hold) noexcept override {
    text += "ended: " + std::string(to_string(hold.end)) + ';';
  }
  void lease_lost(const HoldObservation& /*hold*/) noexcept override { text += "lost;"; }
  std::string text;
};

class HeldLeasesTest : public testing::Test {
 protected:
  [[nodiscard]] std::shared_ptr<LeaseCell> lease(core::ClaimId id) {
    core::Claim claim;
    claim.index = id.index;
    claim.generation = id.generation;
    claim.label.by(core::test::me).assign("r", "token");
    core::Acquired granted;
    granted.claim = id;
    granted.valid_until = runtime::boot_now() + std::chrono::hours(1);
    LeaseCallbacks callbacks;
    callbacks.on_lost = [this](const Error& error) { told += error.message + ';'; };
    return std::make_shared<LeaseCell>(client, granted, claim, std::chrono::hours(1),
                                       std::move(callbacks), true);
  }
  [[nodiscard]] static std::shared_ptr<ClientCore> client_of_nobody() {
    ClientOptions options;
    options.nodes = {"127.0.0.1:1"};
    return *ClientCore::create(std::move(options), nullptr);
  }
  void end(core::ClaimId id, HoldObservation::End how) {
    held.end(id, how, [](const LeaseCell&) { return Error{Errc::not_holder, "why"}; });
    run();
  }
  void run() {
    completions.run(false, true, [] {});
  }
  ~HeldLeasesTest() override { client->shut_down(); }

  const core::ClaimId first{0, 1};
  const core::ClaimId second{1, 1};
  const std::shared_ptr<ClientCore> client = client_of_nobody();
  HoldListener observer;
  Completions completions;
  Observing observing{&observer, completions};
  HeldLeases held{completions, observing};
  std::string told;
};

TEST_F(HeldLeasesTest, AreFoundByTheirClaims) {
  const auto cell = lease(second);
  held.add(cell);
  EXPECT_EQ(held.find(second), cell);
  EXPECT_EQ(held.find(first), nullptr);
  EXPECT_EQ(held.find({1, 2}), nullptr) << "the claim of a later lease";
  EXPECT_EQ(held.find({7, 1}), nullptr);
}

TEST_F(HeldLeasesTest, ThatAreReleasedTellTheirHolderNothing) {
  const auto cell = lease(first);
  held.add(cell);
  EXPECT_EQ(cell->end(), LeaseCell::End::in_time);
  end(first, HoldObservation::End::released);
  EXPECT_EQ(held.find(first), nullptr);
  EXPECT_EQ(observer.text, "ended: released;");
  EXPECT_EQ(told, "");
  end(first, HoldObservation::End::released);
  EXPECT_EQ(observer.text, "ended: released;") << "it is over";
}

TEST_F(HeldLeasesTest, ThatWereLostTellTheirHolderWhoeverNoticed) {
  const auto cell = lease(first);
  held.add(cell);
  EXPECT_TRUE(cell->lose());
  end(first, HoldObservation::End::released);
  EXPECT_EQ(observer.text, "lost;ended: lost;");
  EXPECT_EQ(told, "why;");
}

TEST_F(HeldLeasesTest, AllEndWhenTheClientCloses) {
  const auto kept = lease(first);
  const auto handed_on = lease(second);
  held.add(kept);
  held.add(handed_on);
  EXPECT_EQ(handed_on->hand_on(), LeaseCell::End::in_time);
  std::vector<core::ClaimId> detached;
  held.end_all([&](core::ClaimId claim) { detached.push_back(claim); });
  run();
  EXPECT_EQ(detached, std::vector{second}) << "the nodes keep what was handed on";
  EXPECT_TRUE(kept->was_lost());
  EXPECT_TRUE(kept->lost().stop_requested());
  EXPECT_FALSE(handed_on->was_lost());
  EXPECT_EQ(observer.text, "ended: closed;ended: detached;");
  EXPECT_EQ(told, "") << "closing is deliberate";
  EXPECT_EQ(held.find(first), nullptr);
}

}  // namespace
}  // namespace redlock::api
