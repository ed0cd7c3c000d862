// redlock::TestDeployment, as the tests of a service use it.

#include "redlock/testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "integration/library.hpp"
#include "support/resp_client.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

using namespace std::chrono_literals;

/// For tests that are not about time limits.
Client client_of(const TestDeployment& nodes) {
  ClientOptions options = patient(nodes.options().nodes);
  options.max_ttl = nodes.options().max_ttl;
  return make_client(std::move(options));
}

bool somebody_listens(const std::string& url) {
  try {
    static_cast<void>(RespClient::unix_socket(url.substr(url.find('/') + 2)));
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

/// The error of a start with this PATH; empty: none.
std::string failure_with_path(const std::string& path) {
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", path.c_str(), 1);
  std::string failure;
  try {
    const TestDeployment nodes(1);
  } catch (const std::runtime_error& error) {
    failure = error.what();
  }
  ::setenv("PATH", before.c_str(), 1);
  return failure;
}

TEST(TestDeployments, AClientIsRefusedWhileAnotherOneHolds) {
  TestDeployment nodes;
  Client client = client_of(nodes);
  std::optional<Lease> other = nodes.hold("r");
  const auto refused = client.try_acquire("r", {.ttl = 1s});
  ASSERT_TRUE(failed_with(refused, Errc::held));
  EXPECT_THROW(static_cast<void>(nodes.hold("r")), std::runtime_error);
  auto waiting = std::async(std::launch::async, [&] { return client.acquire("r", {.ttl = 1s}); });
  other.reset();
  EXPECT_TRUE(succeeded(waiting.get()));
}

TEST(TestDeployments, ABrokenLockIsLostAndANewHolderHasALargerNumber) {
  TestDeployment nodes;
  Client client = client_of(nodes);
  std::promise<void> lost;
  AcquireOptions terms{.ttl = 2s, .fencing = true};
  terms.on_lost = [&lost](const Error&) { lost.set_value(); };
  const auto lease = client.acquire("r", terms);
  ASSERT_TRUE(succeeded(lease));
  nodes.break_lock("r");
  const Lease next = nodes.hold("r", {.fencing = true});
  EXPECT_GT(next.fencing_token(), lease->fencing_token());
  EXPECT_EQ(lost.get_future().wait_for(longest_wait), std::future_status::ready);
  EXPECT_FALSE(lease->valid());
  EXPECT_TRUE(next.valid());
}

TEST(TestDeployments, AllHoldersOfALockLoseIt) {
  TestDeployment nodes;
  Client client = client_of(nodes);
  const auto one = client.acquire(shared("r"), {.ttl = 2s});
  const auto two = client.acquire(shared("r"), {.ttl = 2s});
  ASSERT_TRUE(one && two);
  nodes.break_lock("r");
  EXPECT_TRUE(nodes.hold("r").valid());
  EXPECT_THROW(nodes.break_lock("free"), std::runtime_error);
}

TEST(TestDeployments, NothingIsGrantedWithoutAQuorumAndNothingIsForgotten) {
  TestDeployment nodes(3, 30s);  // no attempt takes as long as its TTL
  Client client = make_client(nodes.options());
  auto lease = client.acquire("lost", {.ttl = 500ms});
  ASSERT_TRUE(succeeded(lease));
  nodes.stop(0);
  nodes.stop(2);
  EXPECT_TRUE(failed_with(client.try_acquire("r", {.ttl = 30s}), Errc::unavailable));
  EXPECT_TRUE(eventually([&] { return lease->lost().stop_requested(); }, longest_wait));
  nodes.resume(0);
  nodes.resume(2);
  EXPECT_TRUE(succeeded(client.acquire("r", {.ttl = 1s})));
}

TEST(TestDeployments, ANodeThatLostItsDataVotesAgainAfterAQuarantine) {
  TestDeployment nodes(3, 500ms);
  Client client = client_of(nodes);
  for (std::size_t node = 0; node < 3; ++node) {
    nodes.kill(node);
    EXPECT_TRUE(succeeded(client.acquire("r", {.ttl = 500ms})));
    nodes.start(node);
    nodes.wait_until_all_vote();
  }
}

TEST(TestDeployments, AStoppedNodeAndAKilledOneEndWithTheObject) {
  std::vector<std::string> urls;
  {
    TestDeployment nodes;
    urls = nodes.options().nodes;
    nodes.stop(0);
    nodes.kill(1);
    EXPECT_THROW(nodes.stop(1), std::runtime_error);
    EXPECT_THROW(nodes.start(0), std::runtime_error);
    EXPECT_THAT([&nodes] { nodes.kill(3); },
                testing::ThrowsMessage<std::out_of_range>(
                    testing::HasSubstr("there is no node 3: there are 3, numbered from 0")));
    EXPECT_TRUE(somebody_listens(urls.at(2)));
  }
  for (const std::string& url : urls) EXPECT_FALSE(somebody_listens(url)) << url;
  const std::filesystem::path socket = urls.front().substr(7);
  EXPECT_FALSE(std::filesystem::exists(socket.parent_path()));
}

TEST(TestDeployments, ServersKeepNothingOpenThatTheTestCloses) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const TestDeployment nodes(1);
  ::close(ends[1]);
  pollfd end{ends[0], POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, 0), 1);
  ::close(ends[0]);
}

TEST(TestDeployments, AFailureToStartIsOneLine) {
  const std::string failure = failure_with_path("/nowhere");
  EXPECT_NE(failure.find("neither redis-server nor valkey-server is in PATH"), std::string::npos);
  const TempDir programs;
  std::filesystem::create_symlink("/bin/false", programs.path() / "redis-server");
  EXPECT_NE(failure_with_path(programs.path()).find("redis-server ended"), std::string::npos);
}

TEST(TestDeployments, ValkeyServerIsEnough) {
  std::string path = std::getenv("PATH");
  while (!path.empty() &&
         !std::filesystem::exists(path.substr(0, path.find(':')) + "/redis-server")) {
    path.erase(0, std::min(path.find(':'), path.size() - 1) + 1);
  }
  const TempDir programs;
  std::filesystem::create_symlink(path.substr(0, path.find(':')) + "/redis-server",
                                  programs.path() / "valkey-server");
  EXPECT_EQ(failure_with_path(programs.path()), "");
}

#if !defined(__SANITIZE_THREAD__)  // it forbids threads after a fork
/// Runs `body` in a forked child; its result is the exit code.
template <typename Body>
pid_t start_child(Body body) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::alarm(60);
  ::_exit(body());
}

int exit_code_of(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(TestDeployments, ServersOutliveTheThreadThatStartedThemAndNotTheProcess) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t owner = start_child([&] {
    std::optional<TestDeployment> nodes;
    std::thread([&] { nodes.emplace(1); }).join();
    if (!succeeded(make_client(nodes->options()).try_acquire("r", {.ttl = 1s}))) return 1;
    const std::string url = nodes->options().nodes.front() + '\n';
    if (::write(ends[1], url.data(), url.size()) < 0) return 1;
    for (;;) ::pause();
  });
  ::close(ends[1]);
  std::string url;
  for (char next = 0; ::read(ends[0], &next, 1) == 1 && next != '\n';) url += next;
  ::close(ends[0]);
  const bool listened = !url.empty() && somebody_listens(url);
  ::kill(owner, SIGKILL);
  exit_code_of(owner);
  ASSERT_TRUE(listened) << url;
  EXPECT_TRUE(eventually([&] { return !somebody_listens(url); }));
  std::filesystem::remove_all(std::filesystem::path(url.substr(7)).parent_path());
}

TEST(TestDeployments, AForkedCopyLeavesTheServersToItsParent) {
  std::optional<TestDeployment> nodes(1);
  EXPECT_EQ(exit_code_of(start_child([&] {
              nodes.reset();
              return 0;
            })),
            0);
  EXPECT_TRUE(nodes->hold("r").valid());
}
#endif

}  // namespace
}  // namespace redlock::test
