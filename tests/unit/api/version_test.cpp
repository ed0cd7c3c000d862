#include "redlock/version.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/programs.hpp"
#include "support/temp_dir.hpp"

namespace redlock {
namespace {

TEST(Version, IsTheSameForThePreprocessorTheProgramAndTheLibrary) {
  const std::string numbers = std::to_string(REDLOCK_VERSION_MAJOR) + "." +
                              std::to_string(REDLOCK_VERSION_MINOR) + "." +
                              std::to_string(REDLOCK_VERSION_PATCH);
  EXPECT_EQ(version, numbers);
  EXPECT_EQ(library_version(), numbers);
  EXPECT_EQ(REDLOCK_VERSION / 10000, REDLOCK_VERSION_MAJOR);
  EXPECT_EQ(REDLOCK_VERSION / 100 % 100, REDLOCK_VERSION_MINOR);
  EXPECT_EQ(REDLOCK_VERSION % 100, REDLOCK_VERSION_PATCH);
}

// What cannot read the header repeats it.
TEST(Version, IsTheSameInTheManPage) {
  const std::string page = test::read_file(test::pages_folder() + "/../man/quorum-lock.1");
  EXPECT_NE(page.find("\"redlock " + std::string(version) + "\""), std::string::npos);
}

}  // namespace
}  // namespace redlock
