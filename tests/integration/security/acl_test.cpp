// The rights that REFERENCE.md and TEAMS.md name suffice for every kind of lock and every call of a
// user who has exactly these. The server's own record (ACL LOG) shows each refusal, also one that
// the library works around.

#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "integration/library.hpp"
#include "redlock/listing.hpp"
#include "support/programs.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// The blocks of the pages that give a user rights: each line as its words.
[[nodiscard]] std::vector<std::vector<Command>> documented_rights() {
  std::istringstream pages(read_file(pages_folder() + "/REFERENCE.md") +
                           read_file(pages_folder() + "/TEAMS.md"));
  std::vector<std::vector<Command>> blocks;
  bool inside = false;
  for (std::string line; std::getline(pages, line);) {
    if (!line.starts_with("ACL SETUSER ")) {
      inside = false;
      continue;
    }
    if (!inside) blocks.emplace_back();
    inside = true;
    std::istringstream words(line);
    Command command;
    for (std::string word; words >> word;) command.push_back(word);
    blocks.back().push_back(std::move(command));
  }
  return blocks;
}

/// The command without what Redis 6.0 lacks, as REFERENCE.md says.
[[nodiscard]] Command known_to(const RedisServer& node, Command command) {
  if (node.is_since(6, 2)) return command;
  std::erase_if(command, [](const std::string& word) {
    return word == "resetchannels" || word == "+zmscore" || word.starts_with("&");
  });
  return command;
}

class DocumentedAcl : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(blocks_.size(), 4U) << "REFERENCE.md has a block for all, one for servers that "
                                     "compare and one for operators; TEAMS.md has one for a team";
    allow_locks(0);
    for (const RedisServer& node : nodes_) {
      // These are not locks, and bootstrap has to find that out.
      node.command({"SET", "app:cache", "value", "PX", "600000000"});
      node.command({"ZADD", "app:scores", "1", "somebody"});
    }
    open_deployment(patient(nodes_.urls()));
    client_.emplace(make_client(options()));
    other_.emplace(make_client(options()));
  }
  /// Gives the rights of this block, and those to compare without a script if the server can do
  /// that.
  void allow_locks(std::size_t block) {
    allow(blocks_[block]);
    const Reply known = nodes_[0].command({"COMMAND", "LIST", "FILTERBY", "PATTERN", "delifeq"});
    if (known.elements.empty()) return;
    for (Command& command : blocks_[1]) command[2] = user_;
    allow(blocks_[1]);
  }
  void TearDown() override {
    for (const RedisServer& node : nodes_) {
      for (const Reply& refused : node.command({"ACL", "LOG"}).elements) {
        ADD_FAILURE() << "refused: " << refused;
      }
    }
  }

  void allow(const std::vector<Command>& rights) {
    for (const Command& command : rights) {
      for (const RedisServer& node : nodes_) {
        const Reply reply = node.command(known_to(node, command));
        ASSERT_TRUE(reply.is_ok()) << command.back() << ": " << reply.string;
      }
    }
  }
  [[nodiscard]] ClientOptions options() const { return as_user(patient(nodes_.urls())); }
  [[nodiscard]] ClientOptions as_user(ClientOptions options) const {
    options.user = user_;
    options.password = "SECRET";
    options.prefix = prefix_;
    return options;
  }
  /// The second client waits for a lock of the first one, and gets it when that is released.
  void hand_over(const Target& first, const Target& second, AcquireOptions first_options = {},
                 AcquireOptions second_options = {}) {
    const std::string& resource = first.resource();
    auto held = acquire_patiently(*client_, first, std::move(first_options));
    ASSERT_TRUE(succeeded(held)) << resource;
    std::stop_source stop;
    auto waiting = std::async(std::launch::async, [&] {
      return other_->try_acquire_for(second, seconds(60), second_options, stop.get_token());
    });
    EXPECT_TRUE(eventually([&] { return is_queued(resource); }, seconds(30))) << resource;
    EXPECT_TRUE(succeeded(held->extend(seconds(20))));
    EXPECT_TRUE(succeeded(held->release()));
    auto next = waiting.get();
    ASSERT_TRUE(succeeded(next)) << resource;
    EXPECT_TRUE(succeeded(next->extend(seconds(20))));
    EXPECT_TRUE(succeeded(client_->inspect(resource)));
    EXPECT_TRUE(succeeded(client_->ownership(resource, next->token())));
    EXPECT_TRUE(succeeded(next->release()));
  }
  [[nodiscard]] bool is_queued(const std::string& resource) const {
    return nodes_[0].command({"EXISTS", "redlock:node:queue:" + prefix_ + resource}).integer == 1;
  }

  NewNodes nodes_{3};
  std::string user_ = "locker";
  std::string prefix_{};
  std::vector<std::vector<Command>> blocks_ = documented_rights();
  std::optional<Client> client_;
  std::optional<Client> other_;
};

TEST_F(DocumentedAcl, SufficesForExclusiveLocksWithAndWithoutFencing) {
  AcquireOptions fenced;
  fenced.fencing = true;
  hand_over("app:plain", "app:plain");
  hand_over("app:fenced", "app:fenced", fenced, fenced);
  const Target several = all_of({"app:several", "app:third", "app:third more"});
  hand_over(several, several);
  hand_over(several, several, fenced, fenced);
  const Target for_a_moment = interval("app:interval", milliseconds(50));
  hand_over(for_a_moment, for_a_moment);
}

TEST_F(DocumentedAcl, SufficesForReadersOwnersAndPermits) {
  AcquireOptions fenced;
  fenced.fencing = true;
  hand_over(shared("app:read"), "app:read");
  hand_over(shared("app:read-fenced"), "app:read-fenced", {}, fenced);
  hand_over("app:write", shared("app:write"));
  hand_over(owned("app:owner", "import"), "app:owner");
  const Target only_permit = permit("app:permits", 1);
  auto first = client_->try_acquire(only_permit);
  ASSERT_TRUE(succeeded(first));
  EXPECT_TRUE(failed_with(other_->try_acquire(only_permit), Errc::held));
  EXPECT_TRUE(succeeded(first->release()));
}

TEST_F(DocumentedAcl, SufficesForElections) {
  Election election(*client_, "app:leader", {.candidate = "a"});
  Election rival(*other_, "app:leader", {.candidate = "b"});
  auto leader = election.campaign();
  ASSERT_TRUE(succeeded(leader));
  EXPECT_TRUE(failed_with(rival.try_campaign(), Errc::held));
  const auto seen = rival.leader();
  ASSERT_TRUE(succeeded(seen));
  EXPECT_TRUE(*seen && (*seen)->candidate == "a");
  EXPECT_TRUE(succeeded(leader->resign()));
}

TEST_F(DocumentedAcl, SufficesForTokensAndOrphans) {
  auto lease = client_->try_acquire("app:token");
  ASSERT_TRUE(succeeded(lease));
  const Token token = lease->detach().token;
  EXPECT_TRUE(succeeded(other_->extend("app:token", token, seconds(20))));
  EXPECT_EQ(other_->ownership("app:token", token), Ownership::held);
  EXPECT_TRUE(succeeded(other_->release("app:token", token)));

  for (const RedisServer& node : nodes_) node.command({"SET", "app:orphan", "left behind"});
  AcquireOptions orphan;
  orphan.orphan_ttl = milliseconds(100);
  EXPECT_TRUE(succeeded(client_->try_acquire_for("app:orphan", seconds(60), orphan)));
}

TEST_F(DocumentedAcl, SufficesForNodesThatAreDisconnectedAndComeBack) {
  EventLog log;
  ClientOptions hasty = as_user(impatient(nodes_.urls()));
  hasty.on_node_event = log.listener();
  Client client = make_client(hasty);
  ASSERT_TRUE(log.wait_for(NodeEvent::Kind::up, 0));
  nodes_[0].stop();
  // Until a request to the stopped node has timed out, so that its connection has to be killed.
  EXPECT_TRUE(eventually(
      [&] {
        static_cast<void>(client.try_acquire("app:outage"));
        return log.count(NodeEvent::Kind::down, 0) > 0;
      },
      seconds(30)));
  nodes_[0].resume();
  EXPECT_TRUE(log.wait_for(NodeEvent::Kind::up, 0, 2));
  EXPECT_TRUE(succeeded(acquire_patiently(client, "app:outage")));
}

TEST_F(DocumentedAcl, SufficesForOperatorsAndGuards) {
  allow(blocks_[2]);
  client_.reset();
  other_.reset();
  for (const RedisServer& node : nodes_) node.command({"DEL", "redlock:node:marker"});
  ClientOptions guarded = options();
  guarded.guards.trust_durable = true;
  EXPECT_TRUE(succeeded(admin::check(guarded)));
  const auto opened = admin::bootstrap(guarded);
  ASSERT_TRUE(succeeded(opened));
  for (const admin::NodeCheck& node : opened->nodes) EXPECT_TRUE(node.marked) << node.url;
  Client client = make_client(guarded);
  auto held = acquire_patiently(client, "app:guarded");
  EXPECT_TRUE(succeeded(held));
  EXPECT_TRUE(succeeded(admin::check(guarded)));
  auto reader = acquire_patiently(client, shared("app:read"));
  EXPECT_TRUE(succeeded(reader));
  const auto listed = admin::list_locks(guarded);
  ASSERT_TRUE(succeeded(listed));
  EXPECT_TRUE(listed->complete);
  EXPECT_EQ(listed->locks.size(), 2U);
  EXPECT_EQ(listed->answered, 3U);
}

/// The user of one team, whose resources are named without its prefix.
class DocumentedTeamAcl : public DocumentedAcl {
 protected:
  void SetUp() override {
    DocumentedAcl::SetUp();
    if (HasFatalFailure()) return;
    user_ = "billing";
    prefix_ = "billing:";
    allow_locks(3);
    client_.emplace(make_client(options()));
    other_.emplace(make_client(options()));
  }
};

TEST_F(DocumentedTeamAcl, SufficesForLocksOfEveryKindAndForWaiting) {
  AcquireOptions fenced;
  fenced.fencing = true;
  hand_over("plain", "plain");
  hand_over("fenced", "fenced", fenced, fenced);
  const Target several = all_of({"several", "third", "third more"});
  hand_over(several, several, fenced, fenced);
  hand_over(shared("read"), "read");
  hand_over("write", shared("write"));
  hand_over(owned("owner", "import"), "owner");
  const Target for_a_moment = interval("interval", milliseconds(50));
  hand_over(for_a_moment, for_a_moment);
}

TEST_F(DocumentedTeamAcl, SufficesForSemaphoresAndTheirWaiters) {
  const Target only_permit = permit("permits", 1);
  auto first = acquire_patiently(*client_, only_permit);
  ASSERT_TRUE(succeeded(first));
  EXPECT_EQ(first->resource(), "permits#0");
  auto waiting = std::async(std::launch::async,
                            [&] { return other_->try_acquire_for(only_permit, seconds(60)); });
  EXPECT_TRUE(eventually([&] { return is_queued("permits#"); }, seconds(30)));
  EXPECT_TRUE(succeeded(first->release()));
  EXPECT_TRUE(succeeded(waiting.get()));
}

TEST_F(DocumentedTeamAcl, SufficesToListToBreakToWatchAndToElect) {
  auto held = acquire_patiently(*client_, "held");
  auto reader = acquire_patiently(*client_, shared("read"));
  ASSERT_TRUE(held && reader);
  const auto listed = admin::list_locks(options());
  ASSERT_TRUE(succeeded(listed));
  EXPECT_TRUE(listed->complete);
  ASSERT_EQ(listed->locks.size(), 2U);
  EXPECT_EQ(listed->locks[0].resource, "held");
  EXPECT_EQ(listed->locks[1].resource, "read");
  EXPECT_TRUE(succeeded(other_->break_lock("held", held->token(), {.delay = milliseconds(50)})));
  EXPECT_TRUE(eventually([&] {
    const auto seen = client_->inspect("held");
    return seen && seen->broken.size() == 1;
  }));
  std::stop_source stop;
  const auto watched = client_->watch(
      "held", [&](const Inspection&) { stop.request_stop(); }, stop.get_token());
  EXPECT_TRUE(succeeded(watched));
  Election election(*client_, "leader", {.candidate = "a"});
  auto leader = election.campaign();
  ASSERT_TRUE(succeeded(leader));
  EXPECT_TRUE(succeeded(leader->resign()));
}

TEST_F(DocumentedTeamAcl, RefusesTheLocksOfOthers) {
  for (const std::string other : {"", "shipping:", "bill:"}) {
    ClientOptions wrong = options();
    wrong.prefix = other;
    Client client = make_client(wrong);
    const auto refused = client.try_acquire("app:cache");
    ASSERT_TRUE(failed_with(refused, Errc::unavailable)) << other;
    EXPECT_NE(refused.error().message.find("NOPERM"), std::string::npos) << refused.error().message;
  }
  for (const RedisServer& node : nodes_) node.command({"ACL", "LOG", "RESET"});
}

}  // namespace
}  // namespace redlock::test
