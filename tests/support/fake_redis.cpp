#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cctype>

#include "support/fake_server.hpp"

namespace redlock::test {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

void sha1_block(const unsigned char* block, std::array<std::uint32_t, 5>& state) {
  std::array<std::uint32_t, 80> w{};
  for (std::size_t i = 0; i < 16; ++i) {
    for (std::size_t j = 0; j < 4; ++j) w[i] = (w[i] << 8U) | block[i * 4 + j];
  }
  for (std::size_t i = 16; i < 80; ++i) {
    w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  }
  auto [a, b, c, d, e] = state;
  for (std::size_t i = 0; i < 80; ++i) {
    std::uint32_t f = b ^ c ^ d;
    std::uint32_t k = i < 40 ? 0x6ED9EBA1U : 0xCA62C1D6U;
    if (i < 20) {
      f = (b & c) | (~b & d);
      k = 0x5A827999U;
    } else if (i >= 40 && i < 60) {
      f = (b & c) | (b & d) | (c & d);
      k = 0x8F1BBCDCU;
    }
    const std::uint32_t next = std::rotl(a, 5) + f + e + k + w[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  const std::array<std::uint32_t, 5> added{a, b, c, d, e};
  for (std::size_t i = 0; i < 5; ++i) state[i] += added[i];
}

// A client may compare what SCRIPT LOAD answers with its own digest.
std::string sha1(std::string text) {
  const std::uint64_t bits = static_cast<std::uint64_t>(text.size()) * 8;
  text.push_back(static_cast<char>(0x80));
  while (text.size() % 64 != 56) text.push_back('\0');
  for (unsigned shift = 64; shift > 0; shift -= 8) {
    text.push_back(static_cast<char>((bits >> (shift - 8)) & 0xFFU));
  }
  std::array<std::uint32_t, 5> state{0x67452301U, 0xEFCDAB89U, 0x98BADCFEU, 0x10325476U,
                                     0xC3D2E1F0U};
  for (std::size_t at = 0; at < text.size(); at += 64) {
    sha1_block(reinterpret_cast<const unsigned char*>(text.data()) + at, state);
  }
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result;
  for (const auto word : state) {
    for (unsigned shift = 32; shift > 0; shift -= 4) {
      result.push_back(digits[(word >> (shift - 4)) & 0xFU]);
    }
  }
  return result;
}

std::string info(const FakeRedis& redis) {
  const std::string text =
      "# Server\r\nredis_version:" + redis.version + "\r\nredis_mode:" + redis.mode +
      "\r\nprocess_id:1\r\nrun_id:" + redis.run_id + "\r\ntcp_port:" + std::to_string(redis.port) +
      "\r\nuptime_in_seconds:100\r\n\r\n# Memory\r\nmaxmemory_policy:" + redis.maxmemory_policy +
      "\r\n\r\n# Persistence\r\nloading:0\r\naof_enabled:0\r\n\r\n# Replication\r\nrole:" +
      redis.role + "\r\nconnected_slaves:0\r\n\r\n# Cluster\r\ncluster_enabled:" +
      (redis.mode == "cluster" ? "1" : "0") + "\r\n";
  return resp::bulk(text);
}

std::string time_now() {
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  return resp::array(
      {resp::bulk(std::to_string(micros / 1000000)), resp::bulk(std::to_string(micros % 1000000))});
}

std::string client_command(const std::string& verb) {
  static std::atomic<std::int64_t> last_id{0};
  if (verb == "id") return resp::integer(++last_id);
  if (verb == "kill") return resp::integer(0);
  if (verb == "setname" || verb == "reply" || verb == "no-evict") return resp::status("OK");
  return resp::error("ERR unknown subcommand '" + verb + "'. Try CLIENT HELP.");
}

std::string config_get(const FakeRedis& redis, const std::string& name) {
  const auto pair = [&name](const std::string& value) {
    return resp::array({resp::bulk(name), resp::bulk(value)});
  };
  if (name == "maxmemory-policy") return pair(redis.maxmemory_policy);
  if (name == "maxmemory") return pair("0");
  if (name == "appendonly") return pair("no");
  if (name == "appendfsync") return pair("everysec");
  return resp::array({});
}

std::string subscription(const std::string& verb, const Command& command) {
  std::string result;
  for (std::size_t i = 1; i < command.size(); ++i) {
    const auto count = static_cast<std::int64_t>(verb == "subscribe" ? i : command.size() - 1 - i);
    result += resp::array({resp::bulk(verb), resp::bulk(command[i]), resp::integer(count)});
  }
  return result;
}

std::string authenticate(const FakeRedis& redis, const Command& command) {
  if (redis.password.empty()) {
    return resp::error(
        "ERR AUTH <password> called without any password configured for the default user. Are you "
        "sure your configuration is correct?");
  }
  if (command.back() == redis.password) return resp::status("OK");
  return resp::error("WRONGPASS invalid username-password pair or user is disabled.");
}

std::string set(const Command& command) {
  const bool wants_old = std::any_of(command.begin() + 1, command.end(),
                                     [](const auto& word) { return lower(word) == "get"; });
  // With GET the answer is the key's old value: there is none, so nil means granted.
  return wants_old ? resp::nil() : resp::status("OK");
}

}  // namespace

FakeAnswer answer_like_redis(const FakeRedis& redis, const Command& command) {
  const std::string verb = lower(command.at(0));
  const std::string second = command.size() > 1 ? lower(command[1]) : "";
  if (verb == "ping") return resp::status("PONG");
  if (verb == "auth") return authenticate(redis, command);
  if (verb == "info") return info(redis);
  if (verb == "set") return set(command);
  if (verb == "get") return resp::nil();
  if (verb == "pttl" || verb == "ttl") return resp::integer(-2);
  if (verb == "del" || verb == "unlink" || verb == "exists") return resp::integer(0);
  if (verb == "publish" || verb == "pexpire") return resp::integer(0);
  if (verb == "select" || verb == "readonly") return resp::status("OK");
  if (verb == "client") return client_command(second);
  if (verb == "config" && second == "get" && command.size() > 2) {
    return config_get(redis, lower(command[2]));
  }
  if (verb == "time") return time_now();
  if (verb == "script" && second == "load" && command.size() > 2) {
    return resp::bulk(sha1(command[2]));
  }
  if (verb == "command") return resp::error("ERR Invalid command specified");
  if (verb == "evalsha") return resp::error("NOSCRIPT No matching script. Please use EVAL.");
  if (verb == "eval") return resp::nil();
  if (verb == "subscribe" || verb == "unsubscribe") return subscription(verb, command);
  if (verb == "role") {
    return resp::array({resp::bulk(redis.role), resp::integer(0), resp::array({})});
  }
  if (verb == "quit") return FakeAnswer::close(resp::status("OK"));
  if (verb == "hello") {
    // Redis before 6.0 knows no HELLO; a client has to work without RESP3.
    return resp::error("ERR unknown command 'HELLO', with args beginning with: ");
  }
  return resp::error("ERR unknown command '" + command[0] + "', with args beginning with: ");
}

}  // namespace redlock::test
