#include "redis/values/server_info.hpp"

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

TEST(ServerInfo, AServerSaysWhetherItsDataAreItsOwn) {
  const std::string zeros(40, '0');
  const auto own_data = [](const std::string& info) { return memory_in(info).own_data; };
  const auto replication = [](const std::string& role, const std::string& id2,
                              const std::string& offset) {
    return "role:" + role + "\r\nmaster_replid:a\r\nmaster_replid2:" + id2 +
           "\r\nsecond_repl_offset:" + offset + "\r\n";
  };
  const std::string nothing_came = "total_net_repl_input_bytes:0\r\n";
  EXPECT_TRUE(own_data(nothing_came + replication("master", zeros, "-1")));
  EXPECT_FALSE(own_data(nothing_came + replication("slave", zeros, "-1")));
  EXPECT_FALSE(own_data(nothing_came + replication("master", "b" + zeros, "-1")));
  EXPECT_FALSE(own_data(nothing_came + replication("master", "", "-1")));
  EXPECT_FALSE(own_data(nothing_came + replication("master", zeros, "1")));
  EXPECT_FALSE(own_data("total_net_repl_input_bytes:259\r\n" + replication("master", zeros, "-1")))
      << "it was a replica, and has freed its backlog since";
  EXPECT_FALSE(own_data(replication("master", zeros, "-1"))) << "before Redis 7.0";
}

TEST(ServerInfo, TheMemoryHoldsTheNumberOfEvictionsAndThePolicy) {
  EXPECT_EQ(memory_in("master_replid:a\r\nevicted_keys:0\r\n").history, "a");
  EXPECT_EQ(memory_in("master_replid:a\r\nevicted_keys:7\r\n").history, "a+7");
  EXPECT_EQ(memory_in("run_id:r\r\n").history, "r") << "before Redis 4.0";
  EXPECT_TRUE(memory_in("maxmemory_policy:noeviction\r\n").keeps_keys);
  EXPECT_FALSE(memory_in("maxmemory_policy:allkeys-lru\r\n").keeps_keys);
  EXPECT_FALSE(memory_in("").keeps_keys) << "it does not say";
}

TEST(ServerInfo, TheModeIsFoundByTheNamesThatForksGaveIt) {
  for (const char* field : {"redis_mode", "server_mode", "redict_mode"}) {
    EXPECT_EQ(server_mode(std::string(field) + ":sentinel\r\n"), "sentinel") << field;
  }
  EXPECT_EQ(server_mode("role:master\r\n"), "");
}

TEST(ServerInfo, APrimaryListsItsReplicas) {
  const auto replicas = attached_replicas(
      "role:master\r\nconnected_slaves:2\r\n"
      "slave0:ip=10.0.0.8,port=6379,state=online,offset=42,lag=0\r\n"
      "slave1:ip=::1,port=6380,state=wait_bgsave,offset=0,lag=-1\r\n");
  ASSERT_EQ(replicas.size(), 2U);
  EXPECT_EQ(replicas[0].address, "10.0.0.8:6379");
  EXPECT_EQ(replicas[0].state, "online");
  EXPECT_EQ(replicas[0].offset, 42U);
  EXPECT_EQ(replicas[0].lag, 0U);
  EXPECT_EQ(replicas[1].address, "[::1]:6380");
  EXPECT_EQ(replicas[1].lag, std::nullopt);
  EXPECT_TRUE(attached_replicas("role:master\r\nconnected_slaves:0\r\n").empty());
}

}  // namespace
}  // namespace redlock::redis
