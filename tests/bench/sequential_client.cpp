#include "sequential_client.hpp"

#include <fmt/format.h>
#include <hiredis/hiredis.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace redlock::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr timeval answer_limit{5, 0};
constexpr std::string_view release_text =
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";

struct FreeContext {
  void operator()(redisContext* context) const noexcept { redisFree(context); }
};
struct FreeReply {
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};
using Context = std::unique_ptr<redisContext, FreeContext>;
using Reply = std::unique_ptr<redisReply, FreeReply>;

template <std::size_t N>
Reply call(redisContext& context, const std::array<std::string_view, N>& words) {
  std::array<const char*, N> texts{};
  std::array<std::size_t, N> sizes{};
  for (std::size_t i = 0; i < N; ++i) {
    texts[i] = words[i].data();
    sizes[i] = words[i].size();
  }
  return Reply(static_cast<redisReply*>(
      redisCommandArgv(&context, static_cast<int>(N), texts.data(), sizes.data())));
}

/// The connections of one lock in flight.
class SequentialLock {
 public:
  /// Connects to the nodes. Returns why that failed; empty: it did not.
  [[nodiscard]] std::string open(const CycleSettings& settings, std::size_t lane) {
    resource_ = fmt::format("{}/{}", settings.resource_prefix, lane);
    ttl_ = std::to_string(settings.ttl.count());
    limit_ = settings.ttl;
    quorum_ = settings.quorum();
    for (const Endpoint& node : settings.nodes) {
      nodes_.emplace_back(node.unix_path.empty()
                              ? redisConnectWithTimeout(node.host.c_str(), node.port, answer_limit)
                              : redisConnectUnixWithTimeout(node.unix_path.c_str(), answer_limit));
      redisContext* context = nodes_.back().get();
      if (context == nullptr || context->err != 0) {
        return fmt::format("a node cannot be reached: {}",
                           context == nullptr ? "no memory" : context->errstr);
      }
      if (redisSetTimeout(context, answer_limit) != REDIS_OK) return "no limit can be set";
      if (!prepare(*context, node)) return "a node refuses the password, or the script";
    }
    return {};
  }

  [[nodiscard]] bool acquire() {
    token_ = fmt::format("{:016x}{:016x}", random_(), random_());
    const auto start = Clock::now();
    std::size_t granted = 0;
    for (const Context& node : nodes_) {
      const Reply reply = call<6>(*node, {"SET", resource_, token_, "NX", "PX", ttl_});
      if (reply && reply->type == REDIS_REPLY_STATUS) ++granted;
    }
    if (granted >= quorum_ && Clock::now() - start < limit_) return true;
    static_cast<void>(release());
    return false;
  }

  [[nodiscard]] bool release() {
    std::size_t released = 0;
    for (const Context& node : nodes_) {
      const Reply reply = call<5>(*node, {"EVALSHA", digest_, "1", resource_, token_});
      if (reply && reply->type == REDIS_REPLY_INTEGER && reply->integer == 1) ++released;
    }
    return released >= quorum_;
  }

 private:
  [[nodiscard]] bool prepare(redisContext& context, const Endpoint& node) {
    if (!node.password.empty()) {
      const Reply reply = call<2>(context, {"AUTH", node.password});
      if (!reply || reply->type == REDIS_REPLY_ERROR) return false;
    }
    const Reply reply = call<3>(context, {"SCRIPT", "LOAD", release_text});
    if (!reply || reply->type != REDIS_REPLY_STRING) return false;
    digest_.assign(reply->str, reply->len);
    return true;
  }

  std::vector<Context> nodes_{};
  std::mt19937_64 random_{std::random_device{}()};
  std::string resource_{};
  std::string ttl_{};
  std::chrono::nanoseconds limit_{0};
  std::size_t quorum_ = 0;
  std::string digest_{};
  std::string token_{};
};

struct MeasuredSpan {
  Clock::time_point from;
  Clock::time_point until;
};

void run_cycles(SequentialLock& lock, const SequentialLoad& load, const MeasuredSpan& measured,
                CycleResult& result) {
  for (;;) {
    const auto start = Clock::now();
    if (start >= measured.until || (load.stop != nullptr && load.stop->load() != 0)) return;
    const bool granted = lock.acquire();
    const auto acquired = Clock::now();
    const bool released = granted && lock.release();
    const auto end = Clock::now();
    if (start < measured.from) continue;
    if (granted) result.acquire.record(acquired - start);
    if (released) {
      result.cycle.record(end - start);
      ++result.cycles;
    } else {
      ++result.failures;
    }
  }
}

/// Raises the limit of descriptors: many threads with many connections can exceed the usual one.
void allow_descriptors(std::size_t count) {
  constexpr std::size_t others = 128;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= count + others) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, count + others);
  // If it fails, connecting will report it.
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

}  // namespace

CycleOutcome run_sequential_client(const SequentialLoad& load) {
  const std::size_t lanes = load.settings.in_flight;
  allow_descriptors(lanes * load.settings.nodes.size());
  std::vector<SequentialLock> locks(lanes);
  for (std::size_t i = 0; i < lanes; ++i) {
    if (std::string problem = locks[i].open(load.settings, i); !problem.empty()) return problem;
  }
  std::vector<CycleResult> results(lanes);
  const auto from = Clock::now() + load.warm_up;
  const MeasuredSpan measured{from, from + load.settings.duration};
  CpuUse cpu_at_start;
  std::chrono::nanoseconds nodes_at_start{0};
  {
    std::vector<std::jthread> threads;
    threads.reserve(lanes);
    for (std::size_t i = 0; i < lanes; ++i) {
      threads.emplace_back([&, i] { run_cycles(locks[i], load, measured, results[i]); });
    }
    std::this_thread::sleep_until(measured.from);
    nodes_at_start = cpu_of_nodes(load.node_cpu);
    cpu_at_start = cpu_use(CpuScope::process);
  }
  CycleResult total;
  total.elapsed = std::max<Clock::duration>(Clock::now() - measured.from, Clock::duration{0});
  count_cpu(total, cpu_at_start, CpuScope::process);
  total.node_cpu = cpu_of_nodes(load.node_cpu) - nodes_at_start;
  for (const CycleResult& result : results) {
    total.cycles += result.cycles;
    total.failures += result.failures;
    total.acquire.merge(result.acquire);
    total.cycle.merge(result.cycle);
  }
  return total;
}

}  // namespace redlock::bench
