// Clients that use other URLs for the members than the markers have.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "integration/membership/members.hpp"
#include "support/eventually.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class OtherNames : public Members {
 protected:
  OtherNames() { open(3); }

  /// The server's URL with "localhost" in place of the address.
  [[nodiscard]] std::vector<std::string> names() const {
    return {by_name(nodes_[0]), by_name(nodes_[1]), by_name(nodes_[2])};
  }
  static Result<Lease> acquire(Client& client) {
    AcquireOptions lock;
    lock.ttl = seconds(1);
    return client.try_acquire(fresh_resource(), lock);
  }
};

TEST_F(OtherNames, AreNotLearnedWhileNodesAreConnectedTo) {
  for (int start = 0; start < 20; ++start) {
    std::atomic<int> learned{0};
    ClientOptions options = options_of(names());
    options.on_node_event = [&learned](const NodeEvent& event) {
      if (event.kind == NodeEvent::Kind::learned) ++learned;
    };
    Client client = make_client(options);
    const auto lease = acquire(client);
    ASSERT_TRUE(succeeded(lease));
    EXPECT_EQ(lease->round().nodes.size(), 3U);
    static_cast<void>(client.close());
    EXPECT_EQ(learned, 0);
  }
}

TEST_F(OtherNames, DoNotKeepANodeThatForgotFromBeingTakenBack) {
  ClientOptions options = options_of(names());
  Client client = make_client(options);
  ASSERT_TRUE(succeeded(acquire(client)));
  nodes_[2].restart(Data::wipe);
  EXPECT_TRUE(eventually([&] {
    const auto lease = acquire(client);
    return lease && core::parse_marker(nodes_[2].get(marker_key).value_or("")) &&
           core::parse_marker(*nodes_[2].get(marker_key))->self == nodes_[2].url();
  }));
  // After a connection, the learned name does not count as a fourth node.
  EXPECT_TRUE(eventually([&] {
    const auto lease = acquire(client);
    return lease && lease->round().nodes.size() == 3;
  }));
}

TEST_F(OtherNames, ServeAnOperatorToFindTheMembersButNotToNameThem) {
  EXPECT_THAT(admin::remove_member(options_of(names()), by_name(nodes_[2])).error().message,
              HasSubstr("is the member " + nodes_[2].url()));
  const auto removed = admin::remove_member(options_of(names()), nodes_[2].url());
  ASSERT_TRUE(succeeded(removed));
  EXPECT_EQ(removed->members.size(), 2U);
}

}  // namespace
}  // namespace redlock::test
