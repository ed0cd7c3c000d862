#include "fenced-storage/storage.hpp"

#include <fmt/format.h>
#include <hiredis/hiredis.h>
#include <sys/time.h>

#include <charconv>
#include <string_view>
#include <vector>

#include "common/text/text.hpp"

namespace redlock::fenced {
namespace {

// One script and not a read followed by a write: between the two another writer would find room,
// which is the mistake all over again. Value and token share a hash, so that neither can expire, be
// evicted or be restored from a backup without the other.
constexpr std::string_view write_script = R"lua(
-- KEYS: the hash of a key. ARGV: value, fencing token.
-- {1}: written; {0, last}: refused, the larger token `last` was here before.
local last = redis.call('hget', KEYS[1], 'token')
-- Not "<=": one holder may write more than once.
if last and tonumber(ARGV[2]) < tonumber(last) then
  return {0, last}
end
redis.call('hset', KEYS[1], 'value', ARGV[1], 'token', ARGV[2])
return {1}
)lua";

constexpr timeval time_limit{5, 0};

struct FreeReply {
  void operator()(redisReply* reply) const noexcept { ::freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

std::string_view text_of(const redisReply& reply) { return {reply.str, reply.len}; }

Reply ask(redisContext& context, const std::vector<std::string_view>& words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string_view word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  Reply reply(static_cast<redisReply*>(
      ::redisCommandArgv(&context, static_cast<int>(words.size()), texts.data(), sizes.data())));
  if (!reply) {
    throw StorageError(fmt::format("the storage did not answer {}, which it may have done: {}",
                                   words[0], cli::as_printable(context.errstr)));
  }
  if (reply->type == REDIS_REPLY_ERROR) {
    throw StorageError(
        fmt::format("the storage refuses {}: {}", words[0], cli::as_printable(text_of(*reply))));
  }
  return reply;
}

[[noreturn]] void fail_of_form(std::string_view command) {
  throw StorageError(fmt::format("the storage answered {} with what it should not", command));
}

}  // namespace

void Storage::Close::operator()(redisContext* context) const noexcept { ::redisFree(context); }

Storage::Storage(const StorageUrl& url)
    : context_(url.path.empty() ? ::redisConnectWithTimeout(url.host.c_str(), url.port, time_limit)
                                : ::redisConnectUnixWithTimeout(url.path.c_str(), time_limit)) {
  if (!context_ || context_->err != 0) {
    throw StorageError(fmt::format(
        "no connection to the storage {}: {}",
        cli::as_printable(url.path.empty() ? fmt::format("{}:{}", url.host, url.port) : url.path),
        context_ ? cli::as_printable(context_->errstr) : "out of memory"));
  }
  if (::redisSetTimeout(context_.get(), time_limit) != REDIS_OK) {
    throw StorageError("no time limit can be set on the connection to the storage");
  }
  if (!url.password.empty()) {
    // Without a user the short form: servers before 6.0 know no other.
    static_cast<void>(url.user.empty() ? ask(*context_, {"AUTH", url.password})
                                       : ask(*context_, {"AUTH", url.user, url.password}));
  }
  if (url.db != 0) static_cast<void>(ask(*context_, {"SELECT", std::to_string(url.db)}));
}

std::optional<std::uint64_t> Storage::write(const std::string& key, const std::string& value,
                                            std::uint64_t token) {
  const Reply reply =
      ask(*context_, {"EVAL", write_script, "1", key, value, std::to_string(token)});
  if (reply->type != REDIS_REPLY_ARRAY || reply->elements == 0) fail_of_form("EVAL");
  if (reply->element[0]->integer == 1) return std::nullopt;
  if (reply->elements != 2 || reply->element[1]->type != REDIS_REPLY_STRING) fail_of_form("EVAL");
  const std::string_view text = text_of(*reply->element[1]);
  std::uint64_t newer = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), newer).ec != std::errc{}) {
    fail_of_form("EVAL");
  }
  return newer;
}

void Storage::write_unfenced(const std::string& key, const std::string& value,
                             std::uint64_t token) {
  static_cast<void>(ask(*context_, {"HSET", key, "value", value, "token", std::to_string(token)}));
}

std::optional<Storage::Record> Storage::read(const std::string& key) {
  const Reply reply = ask(*context_, {"HMGET", key, "value", "token"});
  if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2) fail_of_form("HMGET");
  const redisReply& value = *reply->element[0];
  const redisReply& token = *reply->element[1];
  if (value.type != REDIS_REPLY_STRING) return std::nullopt;
  Record record{std::string(text_of(value)), {}};
  if (token.type == REDIS_REPLY_STRING) record.token = text_of(token);
  return record;
}

std::string refusal(std::uint64_t token, std::uint64_t newer) {
  return fmt::format("refused: fencing token {} is older than {}", token, newer);
}

}  // namespace redlock::fenced
