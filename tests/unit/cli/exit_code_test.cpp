#include "common/session/exit_code.hpp"

#include <gtest/gtest.h>

namespace redlock::cli {
namespace {

TEST(CliExitCode, OfAnErrorSaysWhatACallerCanDo) {
  for (const Errc errc : {Errc::held, Errc::split}) {
    EXPECT_EQ(exit_code_of(errc), ExitCode::taken) << to_string(errc);
  }
  for (const Errc errc : {Errc::unavailable, Errc::excluded, Errc::expired}) {
    EXPECT_EQ(exit_code_of(errc), ExitCode::unavailable) << to_string(errc);
  }
  EXPECT_EQ(exit_code_of(Errc::not_holder), ExitCode::not_holder);
  EXPECT_EQ(exit_code_of(Errc::invalid_argument), ExitCode::usage);
}

// A machine without free file descriptors is not a usage error.
TEST(CliExitCode, OfALimitThatWasReachedIs69) {
  EXPECT_EQ(code(exit_code_of(Errc::limit_reached)), 69);
}

}  // namespace
}  // namespace redlock::cli
