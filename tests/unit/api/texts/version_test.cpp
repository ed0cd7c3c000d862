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

// A file that cannot read the header repeats the version.
TEST(Version, IsTheSameInThePort) {
  const std::string tools = test::pages_folder() + "/../";
  const std::string quoted = std::string(version) + "\"";
  EXPECT_NE(test::read_file(tools + "packaging/vcpkg/redlock/vcpkg.json")
                .find("\"version-semver\": \"" + quoted),
            std::string::npos);
}

}  // namespace
}  // namespace redlock
