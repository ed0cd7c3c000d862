// The Dockerfile of tools/packaging: the commands of its container run here.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "integration/cli/run/packaging.hpp"

namespace redlock::test {
namespace {

/// The instructions of the Dockerfile, with their continuation lines.
class PackagedContainer : public Packaging {
 protected:
  PackagedContainer() {
    std::string line;
    for (const std::string& part : lines_in(read_file(packaging_file("container/Dockerfile")))) {
      if (part.empty() || part.front() == '#') continue;
      const bool continued = part.back() == '\\';
      line += continued ? part.substr(0, part.size() - 1) : part;
      if (continued) continue;
      const std::size_t blank = line.find(' ');
      instructions_.emplace_back(line.substr(0, blank), line.substr(blank + 1));
      line.clear();
    }
  }
  [[nodiscard]] std::vector<std::string> all(const std::string& name) const {
    std::vector<std::string> found;
    for (const auto& [instruction, value] : instructions_) {
      if (instruction == name) found.push_back(value);
    }
    return found;
  }
  [[nodiscard]] std::string last(const std::string& name) const {
    const auto found = all(name);
    EXPECT_FALSE(found.empty()) << name;
    return found.empty() ? std::string() : found.back();
  }
  [[nodiscard]] static Words exec_form(const std::string& text) {
    const Json words = Json::parse(text.substr(text.find('[')), nullptr, false);
    EXPECT_TRUE(words.is_array()) << text;
    return words.is_array() ? words.get<Words>() : Words{};
  }

  std::vector<std::pair<std::string, std::string>> instructions_;
};

TEST_F(PackagedContainer, SaysWhatItMustInAFormThatIsRead) {
  for (const auto& [instruction, value] : instructions_) {
    EXPECT_NE(std::string(" ARG FROM COPY RUN USER STOPSIGNAL HEALTHCHECK ENTRYPOINT CMD ")
                  .find(" " + instruction + " "),
              std::string::npos)
        << instruction << " " << value;
  }
  EXPECT_EQ(all("FROM").size(), 2U) << "what it is built with stays behind";
  EXPECT_EQ(last("STOPSIGNAL"), "SIGTERM");
  EXPECT_EQ(last("USER").find("0:"), std::string::npos);
  EXPECT_EQ(exec_form(last("ENTRYPOINT")), Words{"/usr/bin/quorum-lock"})
      << "a shell in between would get the signals";
  for (const std::string& commands : all("RUN")) {
    EXPECT_EQ(run_process({"sh", "-n", "-c", commands}).exit_code, 0) << commands;
  }
}

TEST_F(PackagedContainer, HasTheLibrariesThatTheProgramNeeds) {
  const ProcessResult release =
      run_process({"sh", "-c", ". /etc/os-release; echo $VERSION_CODENAME"});
  ASSERT_EQ(last("FROM"), "${BASE}");
  const std::string base = last("ARG");
  if (release.output.size() < 2 ||
      base.find(release.output.substr(0, release.output.size() - 1)) == std::string::npos) {
    GTEST_SKIP() << "this is not the system of the container, " << base;
  }
  const ProcessResult needed =
      run_process({"sh", "-c",
                   "ldd \"$0\" | sed -n 's/.*=> \\([^ ]*\\) .*/\\1/p' | while read -r file; do "
                   "file=$(readlink -f \"$file\"); dpkg -S \"$file\" 2>/dev/null || "
                   "dpkg -S \"${file#/usr}\" 2>/dev/null; done | sed 's/:.*//' | sort -u",
                   quorum_lock_program()});
  const std::string installed = all("RUN").back() + " ";
  const std::vector<std::string> packages = lines_in(needed.output);
  EXPECT_FALSE(packages.empty()) << needed.errors;
  for (const std::string& package : packages) {
    // Every image of Debian has these.
    if (package == "libc6" || package == "libgcc-s1" || package == "libstdc++6") continue;
    // Libraries of a build with a sanitizer.
    if (package.find("san") != std::string::npos) continue;
    EXPECT_NE(installed.find(" " + package + " "), std::string::npos) << package;
  }
}

TEST_F(PackagedContainer, IsHealthyWhileAQuorumAnswers) {
  Words check = exec_form(last("HEALTHCHECK"));
  ASSERT_FALSE(check.empty());
  ASSERT_EQ(check.front(), exec_form(last("ENTRYPOINT")).front());
  check.front() = quorum_lock_program();
  const RunOptions options{.environment =
                               tool_environment({"QUORUM_LOCK_NODES=" + nodes_.joined_urls()})};
  for (std::size_t node = 0; node < 2; ++node) nodes_[node].kill();
  EXPECT_EQ(run_process(check, options).exit_code, 0);
  nodes_[2].kill();
  EXPECT_EQ(run_process(check, options).exit_code, 69);
}

TEST_F(PackagedContainer, ShowsItsUsageWithoutArguments) {
  Words words = exec_form(last("ENTRYPOINT"));
  const Words arguments = exec_form(last("CMD"));
  words.front() = quorum_lock_program();
  words.insert(words.end(), arguments.begin(), arguments.end());
  EXPECT_EQ(run(words).exit_code, 0);
}

}  // namespace
}  // namespace redlock::test
