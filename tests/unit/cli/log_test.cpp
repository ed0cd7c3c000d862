#include "common/text/log.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace redlock::cli {
namespace {

constexpr std::chrono::system_clock::time_point logged_at{
    std::chrono::milliseconds(1'781'000'000'042)};

TEST(CliLog, IsOneObjectALineForPrograms) {
  EXPECT_EQ(log_json({LogLine::Level::warning, "connection refused", "redis://r1:6379", "down"},
                     logged_at),
            R"({"time":"2026-06-09T10:13:20.042Z","level":"warning","node":"redis://r1:6379",)"
            R"("event":"down","message":"connection refused"})"
            "\n");
  EXPECT_EQ(log_json({LogLine::Level::info, {}, "redis://r1", {}, "pending"}, logged_at),
            R"({"time":"2026-06-09T10:13:20.042Z","level":"info","node":"redis://r1",)"
            R"("vote":"pending","message":""})"
            "\n");
  EXPECT_EQ(log_json({LogLine::Level::error, "two\nlines and \xff", {}, {}}, logged_at),
            R"({"time":"2026-06-09T10:13:20.042Z","level":"error",)"
            R"("message":"two\nlines and \\xff"})"
            "\n");
  EXPECT_EQ(log_json({LogLine::Level::debug, "closed", {}, "down", {}, 3}, logged_at),
            R"({"time":"2026-06-09T10:13:20.042Z","level":"debug",)"
            R"("event":"down","times":3,"message":"closed"})"
            "\n");
}

TEST(CliLog, IsOneLineForPeople) {
  EXPECT_EQ(log_text({LogLine::Level::info, {}, "redis://r1", "up"}),
            "quorum-lock: redis://r1 up\n");
  EXPECT_EQ(log_text({LogLine::Level::warning, "refused", "redis://r1", "down"}),
            "quorum-lock: redis://r1 down: refused\n");
  EXPECT_EQ(log_text({LogLine::Level::warning, "out of date", "redis://r1", {}}),
            "quorum-lock: warning: redis://r1: out of date\n");
  EXPECT_EQ(log_text({LogLine::Level::error, "held\x1b", {}, {}}), "quorum-lock: held\\x1b\n");
}

}  // namespace
}  // namespace redlock::cli
