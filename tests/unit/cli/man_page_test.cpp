#include <gtest/gtest.h>

#include <span>
#include <string>

#include "quorum-lock/line/verb_table.hpp"
#include "support/programs.hpp"
#include "support/temp_dir.hpp"

namespace redlock::cli {
namespace {

/// As the page spells it: a plain dash could become a hyphen.
std::string in_roff(std::string_view text) {
  std::string out;
  for (const char letter : text) out += letter == '-' ? std::string("\\-") : std::string(1, letter);
  return out;
}

TEST(CliManPage, HasEveryVerbAndEveryOption) {
  const std::string page = test::read_file(test::pages_folder() + "/../man/quorum-lock.1");
  const auto expect_options = [&page](std::span<const OptionText> options) {
    for (const OptionText& option : options) {
      EXPECT_NE(page.find("\\-\\-" + in_roff(option.name)), std::string::npos) << option.name;
    }
  };
  expect_options(global_options());
  for (const VerbText& verb : verbs()) {
    EXPECT_NE(page.find("\n.B quorum-lock " + std::string(verb.name)), std::string::npos)
        << verb.name;
    expect_options(verb.options);
  }
}

}  // namespace
}  // namespace redlock::cli
