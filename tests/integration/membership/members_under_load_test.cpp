// The members change while clients with the old list and with the new one lock all the time: two of
// them never hold the lock at once, and all make progress.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "integration/membership/members.hpp"
#include "redlock/clock.hpp"
#include "support/eventually.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// The holder of the lock, shared by all contenders of a test.
class Table {
 public:
  void granted(const Lease& lease) {
    const std::lock_guard lock(mutex_);
    if (held_until_ && BootClock::now() < *held_until_) ++overlaps_;
    held_until_ = lease.valid_until();
  }
  void extended(const Lease& lease) {
    const std::lock_guard lock(mutex_);
    held_until_ = lease.valid_until();
  }
  void given_up() {
    const std::lock_guard lock(mutex_);
    held_until_.reset();
  }
  [[nodiscard]] int overlaps() const {
    const std::lock_guard lock(mutex_);
    return overlaps_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<BootClock::time_point> held_until_;
  int overlaps_ = 0;
};

/// A thread that locks, sometimes extends, and releases, until it is destroyed.
class Contender {
 public:
  Contender(ClientOptions options, Table& table) : table_(table) {
    options.on_node_event = [this](const NodeEvent& event) {
      if (event.kind == NodeEvent::Kind::learned) ++learned_;
    };
    client_.emplace(make_client(std::move(options)));
    thread_ = std::thread([this] { run(); });
  }
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;
  ~Contender() {
    stop_ = true;
    thread_.join();
  }

  [[nodiscard]] int leases() const { return leases_; }
  [[nodiscard]] int learned() const { return learned_; }
  /// Whether the contender gets 20 more leases.
  [[nodiscard]] bool goes_on() const {
    const int before = leases_;
    return eventually([&] { return leases_ >= before + 20; }, seconds(60));
  }

 private:
  void run() {
    while (!stop_) {
      auto lease = client_->try_acquire_for("r", milliseconds(200), {.ttl = milliseconds(500)});
      if (!lease) continue;
      table_.granted(*lease);
      if (++leases_ % 4 == 0 && lease->extend(milliseconds(500))) table_.extended(*lease);
      table_.given_up();
      static_cast<void>(lease->release());
    }
  }

  Table& table_;
  std::optional<Client> client_;
  std::atomic<bool> stop_{false};
  std::atomic<int> leases_{0};
  std::atomic<int> learned_{0};
  std::thread thread_;
};

class MembersUnderLoad : public Members {
 protected:
  void contend(const std::vector<std::size_t>& list) {
    contenders_.push_back(std::make_unique<Contender>(options_of(urls(list)), table_));
  }
  void expect_that_all_go_on(const char* when) const {
    for (const auto& contender : contenders_) EXPECT_TRUE(contender->goes_on()) << when;
    EXPECT_EQ(table_.overlaps(), 0) << when;
  }
  /// Makes a change that is killed at its first write, at its second, …, and repeated each time.
  template <typename Change>
  void change_and_kill_at_every_writing(const Change& change) {
    struct Killed {};
    for (int kept = 0;; ++kept) {
      int writings = 0;
      admin::ChangeOptions options;
      options.on_progress = [&](const admin::ChangeProgress& progress) {
        if (progress.kind == admin::ChangeProgress::Kind::writing && writings++ == kept)
          throw Killed();
      };
      try {
        ASSERT_TRUE(succeeded(change(options)));
        return;
      } catch (const Killed&) {
        EXPECT_EQ(table_.overlaps(), 0);
      }
    }
  }

  Table table_;
  std::vector<std::unique_ptr<Contender>> contenders_;
};

TEST_F(MembersUnderLoad, OldAndNewListsNeverHoldTheLockAtOnce) {
  open(3);
  contend({0, 1, 2});
  contend({0, 1, 3});
  expect_that_all_go_on("before the change");
  change_and_kill_at_every_writing([&](const admin::ChangeOptions& change) {
    return admin::replace_member(options_of(initial_), nodes_[2].url(), nodes_[3].url(), change);
  });
  expect_that_all_go_on("after the change");
  // The removed node still runs with its old marker. A client that lists it ignores the marker.
  EXPECT_TRUE(eventually([&] { return contenders_[0]->learned() == 1; }, seconds(30)));
}

TEST_F(MembersUnderLoad, AnOldListSurvivesTheLossOfTheNodesThatItShares) {
  open(3);
  contend({0, 1, 2});
  ASSERT_TRUE(
      succeeded(admin::replace_member(options_of(initial_), nodes_[2].url(), nodes_[3].url())));
  EXPECT_TRUE(eventually([&] { return contenders_[0]->learned() == 1; }, seconds(30)));
  nodes_[0].kill();
  expect_that_all_go_on("with one old member and the new one");
}

TEST_F(MembersUnderLoad, GrowAndShrinkAndNobodyStops) {
  open(3);
  contend({0, 1, 2});
  contend({0, 1, 2});
  for (const std::size_t added : {std::size_t{3}, std::size_t{4}}) {
    change_and_kill_at_every_writing([&](const admin::ChangeOptions& change) {
      return admin::add_member(options_of(initial_), nodes_[added].url(), change);
    });
    expect_that_all_go_on("after an addition");
  }
  for (const std::size_t removed : {std::size_t{0}, std::size_t{1}}) {
    change_and_kill_at_every_writing([&](const admin::ChangeOptions& change) {
      return admin::remove_member(options_of(urls({2, 3, 4})), nodes_[removed].url(), change);
    });
    expect_that_all_go_on("after a removal");
  }
  contend({2, 3, 4});
  expect_that_all_go_on("with a new list");
}

TEST_F(MembersUnderLoad, AClientThatStayedConnectedObeysABootstrapOfMoreNodes) {
  open(3);
  {
    // The client connects before the deployment is opened and is idle meanwhile: `bootstrap`
    // refuses locked nodes.
    Client client = make_client(options_of(initial_));
    ASSERT_TRUE(succeeded(client.try_acquire("r", {.ttl = milliseconds(500)})));
    ASSERT_TRUE(eventually([&] { return nodes_.count_held("r") == 0; }, seconds(30)));
    ASSERT_TRUE(succeeded(admin::bootstrap(options_of(nodes_.urls()))));
    // Two of five would have been a quorum by the old rules.
    nodes_[2].command({"SET", "r", "somebody-else", "PX", "600000"});
    nodes_[3].command({"SET", "r", "somebody-else", "PX", "600000"});
    nodes_[4].command({"SET", "r", "somebody-else", "PX", "600000"});
    EXPECT_FALSE(client.try_acquire("r", {.ttl = milliseconds(500)}).has_value());
    for (std::size_t node = 2; node < 5; ++node) nodes_[node].command({"DEL", "r"});
    EXPECT_TRUE(
        eventually([&] { return client.try_acquire("r", {.ttl = milliseconds(500)}).has_value(); },
                   seconds(60)));
  }
}

}  // namespace
}  // namespace redlock::test
