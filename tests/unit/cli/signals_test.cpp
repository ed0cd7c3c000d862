#include "common/system/signals.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

namespace redlock::cli {
namespace {

TEST(SignalNames, AreKnownWithoutTheCLibrary) {
  EXPECT_EQ(name_of_signal(SIGTERM), "SIGTERM");
  EXPECT_EQ(name_of_signal(SIGKILL), "SIGKILL");
  EXPECT_EQ(name_of_signal(SIGABRT), "SIGABRT");
  EXPECT_EQ(name_of_signal(SIGXFSZ), "SIGXFSZ");
  EXPECT_EQ(name_of_signal(SIGRTMIN + 3), "signal " + std::to_string(SIGRTMIN + 3));
  EXPECT_EQ(name_of_signal(0), "signal 0");
}

}  // namespace
}  // namespace redlock::cli
