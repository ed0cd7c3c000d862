#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "redis/batches/encoder.hpp"
#include "support/encoding.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"

namespace redlock::test {

/// The Lua scripts on a real server, called with the bytes that the library sends.
class Scripts : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<RedisServer>(); }
  static void TearDownTestSuite() { server_.reset(); }

  void SetUp() override { server_->command({"FLUSHALL"}); }

  static Reply ask(core::Verb verb, const std::string& token,
                   std::chrono::milliseconds ttl = std::chrono::milliseconds(60'000),
                   core::ScriptForm form = core::ScriptForm::text) {
    redis::Encoder encoder;
    core::Terms terms;
    terms.reserved_for = std::chrono::minutes(1);  // as long as a test may take
    RespClient client = RespClient::unix_socket(server_->unix_path());
    client.send_raw(test::encode(encoder, verb, form, redis::Dialect::classic, "r",
                                 Token::parse(token).value(), ttl, 0, terms));
    return client.read();
  }
  static std::int64_t number(core::Verb verb, const std::string& token,
                             std::chrono::milliseconds ttl = std::chrono::milliseconds(60'000)) {
    const Reply reply = ask(verb, token, ttl);
    EXPECT_EQ(reply.kind, Reply::Kind::integer) << reply;
    return reply.integer;
  }
  static void hold(const std::string& token, const std::string& ttl = "60000") {
    ASSERT_TRUE(server_->command({"SET", "r", token, "PX", ttl}).is_ok());
  }

  static inline std::unique_ptr<RedisServer> server_;
};

}  // namespace redlock::test
