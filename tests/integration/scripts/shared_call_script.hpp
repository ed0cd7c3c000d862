#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "integration/library.hpp"
#include "redis/requests/row.hpp"
#include "redis/requests/shared_call.hpp"
#include "support/resp_client.hpp"

namespace redlock::test {

/// The script of a redis::SharedCall, on a real server.
class SharedCallScript : public testing::Test {
 protected:
  /// `terms` for each resource: "a" by the token "ta", and so on.
  Reply call(core::Verb verb, const std::vector<std::string>& resources, core::Terms terms) {
    redis::SharedCall shared;
    for (const std::string& resource : resources) {
      const std::string token = "t" + resource;
      terms.resource = resource;
      terms.token = token;
      shared.add(*redis::row_of(verb).shared, terms);
    }
    client_.send_raw(shared.encode(core::ScriptForm::text));
    return client_.read();
  }
  void hold(const std::string& resource, const std::string& token,
            const std::string& ttl_ms = "10000") {
    ASSERT_TRUE(server_.command({"SET", resource, token, "PX", ttl_ms}).is_ok());
  }
  static std::vector<std::int64_t> numbers(const Reply& reply) {
    std::vector<std::int64_t> all;
    for (const Reply& element : reply.elements) all.push_back(element.integer);
    return all;
  }

  RedisServer server_;
  RespClient client_ = RespClient::unix_socket(server_.unix_path());
};

}  // namespace redlock::test
