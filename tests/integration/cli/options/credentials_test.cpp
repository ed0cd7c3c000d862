// --password-file: a password that is rotated while a command holds a lock.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "integration/cli/tool.hpp"
#include "integration/security/credentials.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

TEST(CliPasswordFile, IsReadAgainAtEachConnectionSoThatARunOutlivesARotation) {
  RotatingNodes rotating(5);
  const TempDir directory;
  const std::string file = directory.write("password", "first-secret\n").string();
  rotating.rotate("first-secret");
  const std::string end = (directory.path() / "end").string();
  ChildProcess run = start_tool({"run", "r", "--ttl", "20s", "--verbose", "--", "sh", "-c",
                                 "echo held; until [ -e " + end + " ]; do sleep 0.02; done"},
                                {.environment = {"QUORUM_LOCK_NODES=" + rotating.joined_urls(),
                                                 "QUORUM_LOCK_PASSWORD_FILE=" + file}});
  ASSERT_TRUE(run.wait_for_output("held")) << run.errors();
  rotating.nodes()[1].kill();
  rotating.nodes()[4].kill();
  std::filesystem::rename(directory.write("next", "second-secret\n"), file);
  rotating.rotate("second-secret");
  const ProcessResult held = run_tool(
      {"acquire", "r", "--nodes", rotating.joined_urls(), "--password-file", file, "--wait", "0s"});
  EXPECT_EQ(held.exit_code, 75) << held.errors;
  // A renewal that all three have to grant.
  EXPECT_TRUE(eventually([&] {
    for (const std::size_t node : {0U, 2U, 3U}) {
      if (rotating.nodes()[node]
              .command({"CLIENT", "LIST", "TYPE", "normal"})
              .string.find("name=redlock") == std::string::npos) {
        return false;
      }
    }
    return true;
  }));
  directory.write("end", "");
  EXPECT_EQ(run.wait(), (ExitStatus{0, 0})) << run.errors();
  for (const char* secret : {"first-secret", "second-secret"}) {
    EXPECT_EQ(run.errors().find(secret), std::string::npos) << run.errors();
  }
  EXPECT_EQ(run_tool({"acquire", "r", "--nodes", rotating.joined_urls(), "--password-file", file})
                .exit_code,
            0)
      << "it was released";
}

// As of `--password-file <(pass show redis)`: what it contains can be read once.
TEST(CliPasswordFile, MayBeAPipe) {
  RotatingNodes rotating(3);
  rotating.rotate("first-secret");
  const TempDir directory;
  const std::string fifo = (directory.path() / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::fstream writer(fifo);  // for both directions: to open it waits for no reader
  writer << "first-secret\n" << std::flush;
  const ProcessResult acquired = run_tool(
      {"acquire", "r", "--nodes", rotating.joined_urls(), "--password-file", fifo, "--wait", "0s"});
  EXPECT_EQ(acquired.exit_code, 0) << acquired.errors;
}

}  // namespace
}  // namespace redlock::test
