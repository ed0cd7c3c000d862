#include "bench/measure/node_commands.hpp"

#include <hiredis/hiredis.h>
#include <sys/time.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>

namespace redlock::bench {
namespace {

constexpr timeval answer_limit{5, 0};

struct FreeAnswer {
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};
using Answer = std::unique_ptr<redisReply, FreeAnswer>;

bool runs_scripts(std::string_view command) {
  return command == "eval" || command == "evalsha" || command == "eval_ro" ||
         command == "evalsha_ro" || command == "fcall" || command == "fcall_ro";
}

}  // namespace

CommandCounts parse_command_stats(std::string_view info) {
  constexpr std::string_view prefix = "cmdstat_";
  constexpr std::string_view separator = ":calls=";
  CommandCounts counts;
  while (!info.empty()) {
    const std::string_view line = info.substr(0, info.find('\n'));
    info.remove_prefix(std::min(info.size(), line.size() + 1));
    const std::size_t at = line.find(separator);
    if (!line.starts_with(prefix) || at == std::string_view::npos) continue;
    const std::string_view name = line.substr(prefix.size(), at - prefix.size());
    std::uint64_t calls = 0;
    std::from_chars(line.data() + at + separator.size(), line.data() + line.size(), calls);
    counts.all += calls;
    if (runs_scripts(name)) counts.scripts += calls;
  }
  return counts;
}

void NodeCommands::Free::operator()(redisContext* context) const noexcept { redisFree(context); }

NodeCommands::NodeCommands(const std::vector<Endpoint>& nodes) {
  for (const Endpoint& node : nodes) {
    nodes_.emplace_back(node.unix_path.empty()
                            ? redisConnectWithTimeout(node.host.c_str(), node.port, answer_limit)
                            : redisConnectUnixWithTimeout(node.unix_path.c_str(), answer_limit));
    redisContext* context = nodes_.back().get();
    if (context == nullptr || context->err != 0 ||
        redisSetTimeout(context, answer_limit) != REDIS_OK) {
      throw std::runtime_error("bench: a node cannot be reached");
    }
    if (node.password.empty()) continue;
    const Answer answer(static_cast<redisReply*>(
        redisCommand(context, "AUTH %b", node.password.data(), node.password.size())));
    if (!answer || answer->type == REDIS_REPLY_ERROR) {
      throw std::runtime_error("bench: a node does not accept the password");
    }
  }
}

std::vector<CommandCounts> NodeCommands::sample() {
  std::vector<CommandCounts> counts;
  for (const std::string& answer : ask("INFO commandstats")) {
    counts.push_back(parse_command_stats(answer));
    // The server counts a call when the call has ended, so its answer does not include this one.
    counts.back().all -= std::min(counts.back().all, asked_ - 1);
  }
  return counts;
}

std::uint64_t NodeCommands::connections() {
  constexpr std::string_view name = "total_connections_received:";
  std::uint64_t all = 0;
  for (const std::string& answer : ask("INFO stats")) {
    const std::size_t at = answer.find(name);
    if (at == std::string::npos) throw std::runtime_error("bench: a node does not know its stats");
    std::uint64_t count = 0;
    std::from_chars(answer.data() + at + name.size(), answer.data() + answer.size(), count);
    all += count;
  }
  return all;
}

std::vector<std::string> NodeCommands::ask(const char* question) {
  for (const auto& node : nodes_) redisAppendCommand(node.get(), question);
  std::vector<std::string> answers;
  for (const auto& node : nodes_) {
    void* reply = nullptr;
    if (redisGetReply(node.get(), &reply) != REDIS_OK) {
      throw std::runtime_error("bench: a node does not answer");
    }
    const Answer answer(static_cast<redisReply*>(reply));
    if (answer->str == nullptr || answer->type == REDIS_REPLY_ERROR) {
      throw std::runtime_error("bench: a node refuses INFO");
    }
    answers.emplace_back(answer->str, answer->len);
  }
  ++asked_;
  return answers;
}

}  // namespace redlock::bench
