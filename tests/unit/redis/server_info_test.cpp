#include "redis/handshake/server_info.hpp"

#include <gtest/gtest.h>

namespace redlock::redis {
namespace {

TEST(ServerInfo, AFieldEndsWithItsLine) {
  constexpr std::string_view info = "# Server\r\nrun_id:abc\r\nrole:master\nlast:x:y";
  EXPECT_EQ(info_field(info, "run_id"), "abc");
  EXPECT_EQ(info_field(info, "role"), "master");
  EXPECT_EQ(info_field(info, "last"), "x:y");
  EXPECT_EQ(info_field(info, "run"), "") << "the whole name counts";
  EXPECT_EQ(info_field(info, "id"), "");
  EXPECT_EQ(info_field({}, "run_id"), "");
}

TEST(ServerInfo, AForkIsCalledByItsOwnNameAndVersion) {
  EXPECT_EQ(product_text("redis_version:6.0.16\r\n"), "Redis 6.0.16");
  EXPECT_EQ(product_text("redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:9.1.2\r\n"),
            "Valkey 9.1.2");
  EXPECT_EQ(product_text("redict_version:7.3.6\r\nredis_version:7.2.4\r\n"), "Redict 7.3.6");
  EXPECT_EQ(product_text(""), "Redis");
  EXPECT_EQ(product_text("valkey_version:9\x1b[31m.1\r\n").find('\x1b'), std::string::npos);
}

TEST(ServerInfo, TheModeIsFoundByTheNamesThatForksGaveIt) {
  for (const char* field : {"redis_mode", "server_mode", "redict_mode"}) {
    EXPECT_EQ(server_mode(std::string(field) + ":sentinel\r\n"), "sentinel") << field;
  }
  EXPECT_EQ(server_mode("role:master\r\n"), "");
}

}  // namespace
}  // namespace redlock::redis
