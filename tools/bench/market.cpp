#include "bench/market.hpp"

#include <fmt/format.h>
#include <hiredis/hiredis.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <random>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace redlock::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t price = 10;
constexpr const char* market = "market:";

struct FreeContext {
  void operator()(redisContext* context) const noexcept { redisFree(context); }
};
struct FreeReply {
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

/// A blocking connection to the server that has the market.
class Shop {
 public:
  explicit Shop(const Endpoint& at)
      : context_(at.unix_path.empty() ? redisConnect(at.host.c_str(), at.port)
                                      : redisConnectUnix(at.unix_path.c_str())) {
    if (context_ == nullptr || context_->err != 0) {
      throw std::runtime_error("the market's server cannot be reached");
    }
    if (!at.password.empty()) static_cast<void>(ask({"AUTH", at.password}));
  }

  void send(std::initializer_list<std::string_view> words) {
    std::vector<const char*> starts;
    std::vector<std::size_t> sizes;
    for (const std::string_view word : words) {
      starts.push_back(word.data());
      sizes.push_back(word.size());
    }
    redisAppendCommandArgv(context_.get(), static_cast<int>(starts.size()), starts.data(),
                           sizes.data());
  }
  [[nodiscard]] Reply read() {
    void* reply = nullptr;
    if (redisGetReply(context_.get(), &reply) != REDIS_OK) {
      throw std::runtime_error("the market's server went away");
    }
    return Reply(static_cast<redisReply*>(reply));
  }
  [[nodiscard]] Reply ask(std::initializer_list<std::string_view> words) {
    send(words);
    return read();
  }
  /// Answers to what was sent, of which only the last matters.
  [[nodiscard]] Reply last_of(int count) {
    Reply reply;
    for (int i = 0; i < count; ++i) reply = read();
    return reply;
  }

 private:
  std::unique_ptr<redisContext, FreeContext> context_;
};

/// The counts of one seller or buyer.
struct Tally {
  std::uint64_t done = 0;
  std::uint64_t retries = 0;
  Histogram took;
  std::string problem{};
};

/// The lock around a change; WATCH needs none.
class Guard {
 public:
  Guard(const MarketSettings& settings, const std::string& item) {
    if (settings.method == MarketMethod::coarse_lock) unlock_ = settings.lock(market);
    if (settings.method == MarketMethod::lock_per_item) unlock_ = settings.lock(market + item);
    held_ = settings.method == MarketMethod::watch || unlock_ != nullptr;
  }
  ~Guard() {
    if (unlock_) unlock_();
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  [[nodiscard]] bool held() const noexcept { return held_; }

 private:
  std::function<void()> unlock_;
  bool held_ = false;
};

bool over(const MarketSettings& settings, Clock::time_point end) {
  return Clock::now() >= end || settings.stop->load(std::memory_order_relaxed) != 0;
}

void sell(const MarketSettings& settings, std::size_t seller, Clock::time_point end, Tally& tally) {
  Shop shop(settings.data);
  const std::string inventory = fmt::format("inventory:{}", seller);
  for (std::uint64_t number = 0; !over(settings, end);) {
    const std::string item = fmt::format("{}.{}", seller, number);
    const Guard guard(settings, item);
    if (!guard.held()) {
      ++tally.retries;
      continue;
    }
    // The seller makes it first; it is not what is measured.
    shop.send({"SADD", inventory, item});
    if (settings.method == MarketMethod::watch) shop.send({"WATCH", inventory});
    shop.send({"SISMEMBER", inventory, item});
    const Reply mine = shop.last_of(settings.method == MarketMethod::watch ? 3 : 2);
    if (mine->integer != 1) throw std::runtime_error("an item vanished before it was listed");
    shop.send({"MULTI"});
    shop.send({"ZADD", market, std::to_string(price), item});
    shop.send({"SREM", inventory, item});
    shop.send({"EXEC"});
    if (shop.last_of(4)->type == REDIS_REPLY_NIL) {
      ++tally.retries;
      continue;
    }
    ++tally.done;
    ++number;
  }
}

/// Whether the item was bought; `gone` where somebody else had it already.
enum class Purchase { done, in_vain, gone };

Purchase try_to_buy(const MarketSettings& settings, Shop& shop, const std::string& buyer,
                    const std::string& item) {
  const bool watches = settings.method == MarketMethod::watch;
  const Guard guard(settings, item);
  if (!guard.held()) return Purchase::in_vain;
  if (watches) shop.send({"WATCH", market, "users:" + buyer});
  shop.send({"HGET", "users:" + buyer, "funds"});
  shop.send({"ZSCORE", market, item});
  const Reply asked = shop.last_of(watches ? 3 : 2);
  if (asked->type == REDIS_REPLY_NIL) {
    if (watches) static_cast<void>(shop.ask({"UNWATCH"}));
    return Purchase::gone;
  }
  const std::string seller = item.substr(0, item.find('.'));
  shop.send({"MULTI"});
  shop.send({"HINCRBY", "users:seller/" + seller, "funds", std::to_string(price)});
  shop.send({"HINCRBY", "users:" + buyer, "funds", std::to_string(-price)});
  shop.send({"SADD", "inventory:" + buyer, item});
  shop.send({"ZREM", market, item});
  shop.send({"EXEC"});
  return shop.last_of(6)->type == REDIS_REPLY_NIL ? Purchase::in_vain : Purchase::done;
}

void buy(const MarketSettings& settings, std::size_t number, Clock::time_point end, Tally& tally) {
  Shop shop(settings.data);
  const std::string buyer = fmt::format("buyer/{}", number);
  std::minstd_rand random(static_cast<unsigned>(number) + 1);
  while (!over(settings, end)) {
    const Reply offers = shop.ask({"ZRANGE", market, "0", "99"});
    if (offers->elements == 0) {
      std::this_thread::yield();
      continue;
    }
    const std::size_t which = random() % offers->elements;
    const std::string item(offers->element[which]->str, offers->element[which]->len);
    const auto start = Clock::now();
    Purchase purchase = Purchase::in_vain;
    while (purchase == Purchase::in_vain && !over(settings, end)) {
      purchase = try_to_buy(settings, shop, buyer, item);
      if (purchase == Purchase::in_vain) ++tally.retries;
    }
    if (purchase != Purchase::done) continue;
    tally.took.record(Clock::now() - start);
    ++tally.done;
  }
}

/// No money may be made or lost, in any order of the clients.
std::string audit(const MarketSettings& settings, const MarketResult& result) {
  Shop shop(settings.data);
  const auto count = [&](const char* command, const std::string& key) {
    const Reply reply = shop.ask({command, key});
    return reply->type == REDIS_REPLY_INTEGER ? static_cast<std::uint64_t>(reply->integer) : 0;
  };
  std::uint64_t owned = 0;
  std::int64_t spent = 0;
  for (std::size_t buyer = 0; buyer < settings.buyers; ++buyer) {
    owned += count("SCARD", fmt::format("inventory:buyer/{}", buyer));
    const Reply funds = shop.ask({"HGET", fmt::format("users:buyer/{}", buyer), "funds"});
    if (funds->type == REDIS_REPLY_STRING) spent -= std::stoll(funds->str);
  }
  const std::uint64_t offered = count("ZCARD", market);
  const auto paid = static_cast<std::int64_t>(result.bought) * price;
  if (owned == result.bought && offered + owned == result.listed && spent == paid) return {};
  return fmt::format("{} listed, {} bought; found {} offered, {} owned, {} spent", result.listed,
                     result.bought, offered, owned, spent);
}

}  // namespace

std::string_view to_string(MarketMethod method) noexcept {
  switch (method) {
    case MarketMethod::watch:
      return "watch";
    case MarketMethod::coarse_lock:
      return "coarse_lock";
    case MarketMethod::lock_per_item:
      return "lock_per_item";
  }
  return {};
}

std::variant<MarketResult, std::string> run_market(const MarketSettings& settings) {
  std::vector<Tally> sellers(settings.sellers);
  std::vector<Tally> buyers(settings.buyers);
  MarketResult result;
  try {
    static_cast<void>(Shop(settings.data).ask({"FLUSHDB"}));
    const auto start = Clock::now();
    const auto end = start + settings.duration;
    const auto guarded = [&settings, end](auto work, std::size_t number, Tally& tally) {
      try {
        work(settings, number, end, tally);
      } catch (const std::exception& error) {
        tally.problem = error.what();
      }
    };
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < settings.sellers; ++i) {
        threads.emplace_back([&, i] { guarded(sell, i, sellers[i]); });
      }
      for (std::size_t i = 0; i < settings.buyers; ++i) {
        threads.emplace_back([&, i] { guarded(buy, i, buyers[i]); });
      }
    }
    result.elapsed = Clock::now() - start;
    for (const Tally& tally : sellers) {
      if (!tally.problem.empty()) return tally.problem;
      result.listed += tally.done;
      result.retries += tally.retries;
    }
    for (const Tally& tally : buyers) {
      if (!tally.problem.empty()) return tally.problem;
      result.bought += tally.done;
      result.retries += tally.retries;
      result.purchase.merge(tally.took);
    }
    result.wrong = audit(settings, result);
  } catch (const std::exception& error) {
    return std::string(error.what());
  }
  return result;
}

}  // namespace redlock::bench
