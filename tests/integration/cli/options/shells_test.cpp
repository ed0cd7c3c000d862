// The completions of shells: the files in tools/completion ask quorum-lock itself.

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "support/process.hpp"
#include "support/programs.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

/// What a shell answers to a script that has loaded its file; empty: the shell is not installed.
std::string said_by(const std::string& shell, const std::string& script) {
  if (run_process({"sh", "-c", "command -v " + shell}).exit_code != 0) return "";
  const ProcessResult result = run_process(
      {shell, "-c", script, "sh", pages_folder() + "/../completion/", quorum_lock_program()});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  return result.output;
}

TEST(CliShells, OfBashAsksTheProgram) {
  const auto complete_in_bash = [](const std::string& words) {
    return said_by("bash", "shopt -s extglob; source \"$1\"/quorum-lock.bash; COMP_WORDS=(\"$2\" " +
                               words +
                               "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _quorum_lock \"$2\"; "
                               "printf '%s ' \"${COMPREPLY[@]}\"");
  };
  if (complete_in_bash("''").empty()) GTEST_SKIP() << "no bash";
  EXPECT_EQ(complete_in_bash("be"), "bench ");
  EXPECT_EQ(complete_in_bash("run --wait = fo"), "forever ");
  EXPECT_EQ(complete_in_bash("--nodes a : 1 run r --tt"), "--ttl ");
  EXPECT_EQ(complete_in_bash("run --status-listen 127.0.0.1 : 94"), "9464 ");
  EXPECT_EQ(complete_in_bash("chaos --faults kill,pau"), "kill,pause ");
  EXPECT_EQ(complete_in_bash("run r mapfil"), "mapfile ");
}

// The tests do not require these shells.
TEST(CliShells, OfFishAsksTheProgram) {
  const std::string said =
      said_by("fish",
              "source $argv[2]/quorum-lock.fish; complete -C \"$argv[3] run --wait fo\"; "
              "complete -C \"$argv[3] be\"");
  if (said.empty()) GTEST_SKIP() << "no fish";
  EXPECT_EQ(said.substr(0, 8), "forever\n");
  EXPECT_EQ(said.substr(8, 6), "bench\t");
}

TEST(CliShells, ZshCanReadItsFile) {
  if (run_process({"sh", "-c", "command -v zsh"}).exit_code != 0) GTEST_SKIP() << "no zsh";
  const ProcessResult result =
      run_process({"zsh", "-n", pages_folder() + "/../completion/_quorum-lock"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
}

TEST(CliShells, TheProgramPrintsTheirFiles) {
  for (const auto& [shell, file] :
       {std::pair{"bash", "quorum-lock.bash"}, std::pair{"zsh", "_quorum-lock"},
        std::pair{"fish", "quorum-lock.fish"}}) {
    const ProcessResult printed = run_process({quorum_lock_program(), "completion", shell});
    EXPECT_EQ(printed.exit_code, 0) << printed.errors;
    EXPECT_EQ(printed.output, read_file(pages_folder() + "/../completion/" + file)) << shell;
  }
  const ProcessResult unknown = run_process({quorum_lock_program(), "completion", "csh"});
  EXPECT_EQ(unknown.exit_code, 64);
  EXPECT_EQ(unknown.errors,
            "quorum-lock: completion: 'csh' is not known: allowed are bash, zsh and fish\n");
}

}  // namespace
}  // namespace redlock::test
