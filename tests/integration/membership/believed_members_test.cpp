// Which nodes clients accept as members: the word of a single node does not count, and of two
// servers under one name only one is a member.

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "integration/membership/members.hpp"
#include "support/eventually.hpp"
#include "support/fake_server.hpp"
#include "support/tcp_proxy.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;

core::Marker read_marker(const RedisServer& server) {
  const auto marker = core::parse_marker(server.get(marker_key).value_or(""));
  if (!marker) throw std::runtime_error("no marker");
  return *marker;
}

/// The deployment that the server's votes count for; empty: none.
std::string deployment_of(const RedisServer& server) {
  const auto marker = core::parse_marker(server.get(marker_key).value_or(""));
  return marker ? core::deployment_text(*marker) : std::string();
}

void write_marker(const RedisServer& server, const core::Marker& marker) {
  server.command({"SET", marker_key,
                  core::format_marker(marker) + ' ' + std::to_string(marker.written_at.count())});
}

/// The node events of a client.
class Events {
 public:
  void listen(ClientOptions& options) {
    options.on_node_event = [this](const NodeEvent& event) {
      const std::lock_guard lock(mutex_);
      events_.push_back(event);
    };
  }
  [[nodiscard]] bool has(NodeEvent::Kind kind, std::size_t node, const std::string& text) const {
    const std::lock_guard lock(mutex_);
    return std::any_of(events_.begin(), events_.end(), [&](const NodeEvent& event) {
      return event.kind == kind && event.node == node &&
             event.message.find(text) != std::string::npos;
    });
  }

 private:
  mutable std::mutex mutex_;
  std::vector<NodeEvent> events_;
};

testing::AssertionResult grants(Client& client) {
  AcquireOptions lock;
  lock.ttl = seconds(1);
  auto lease = client.try_acquire(fresh_resource(), lock);
  if (!lease) return testing::AssertionFailure() << lease.error().message;
  return testing::AssertionResult(static_cast<bool>(lease->release()));
}

class BelievedMembers : public Members {};

TEST_F(BelievedMembers, OneEditedMarkerLeadsNobodyAnywhereAndClosesNothing) {
  FakeServer elsewhere;
  open(3);
  core::Marker edited = read_marker(nodes_[0]);
  edited.members.push_back("redis://127.0.0.1:" + std::to_string(elsewhere.port()));
  for (int i = 0; i < 8; ++i)
    edited.members.push_back("redis://none.invalid:" + std::to_string(i + 1));
  std::sort(edited.members.begin(), edited.members.end());
  edited.admissions.clear();
  write_marker(nodes_[0], edited);

  Events events;
  ClientOptions options = options_of(initial_);
  events.listen(options);
  Client client = make_client(options);
  EXPECT_TRUE(grants(client));
  EXPECT_FALSE(events.has(NodeEvent::Kind::learned, 3, ""));

  const auto checked = admin::check(options_of(initial_));
  ASSERT_TRUE(succeeded(checked));
  EXPECT_TRUE(std::any_of(checked->findings.begin(), checked->findings.end(),
                          [&](const admin::Finding& finding) {
                            return finding.node.find(initial_[0]) != std::string::npos &&
                                   finding.what.find("name different members") != std::string::npos;
                          }));
  EXPECT_TRUE(succeeded(admin::members(options_of(initial_))));
  EXPECT_EQ(elsewhere.connections_accepted(), 0U);
}

TEST_F(BelievedMembers, OfTwoServersBehindOneNameOneIsAMember) {
  TcpProxy third(nodes_[2].port());
  std::vector<std::string> list = urls({0, 1});
  list.push_back(third.url());
  ASSERT_TRUE(succeeded(admin::bootstrap(options_of(list))));
  Client before = make_client(options_of(list));
  ASSERT_TRUE(grants(before));
  const std::string first = deployment_of(nodes_[2]);

  third.lead_to(nodes_[3].port());
  Client after = make_client(options_of(list));
  // A vote that was requested while the markers change does not count.
  ASSERT_TRUE(eventually([&] { return grants(after); }));
  // The blank node becomes a member again, and the others record it as the member.
  EXPECT_TRUE(eventually([&] {
    return deployment_of(nodes_[3]) == deployment_of(nodes_[0]) &&
           deployment_of(nodes_[3]) == deployment_of(nodes_[1]);
  }));
  EXPECT_NE(deployment_of(nodes_[0]), first);
  EXPECT_TRUE(eventually([&] { return grants(before) && grants(after); }));
  // The first client is still connected to the old server, and no longer asks it.
  AcquireOptions lock;
  lock.ttl = seconds(1);
  const std::string resource = fresh_resource();
  const auto lease = before.try_acquire(resource, lock);
  ASSERT_TRUE(succeeded(lease));
  EXPECT_FALSE(nodes_[2].get(resource));
  EXPECT_TRUE(nodes_[0].get(resource));
}

}  // namespace
}  // namespace redlock::test
