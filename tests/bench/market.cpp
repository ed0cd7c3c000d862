#include "market.hpp"

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
constexpr std::int64_t funds_of_a_buyer = 1'000'000'000;
constexpr const char* market = "market:";
constexpr int stock = 100;  // items that a seller makes at once

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
  /// Reads the answers to `count` requests and returns the last one.
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
  std::uint64_t gone = 0;
  Histogram took;
  std::string problem{};
};

/// Holds the lock around a change. WATCH needs none.
class Guard {
 public:
  Guard(MarketMethod method, const MarketLock& lock, const std::string& item) {
    if (method == MarketMethod::coarse_lock) unlock_ = lock(market);
    if (method == MarketMethod::lock_per_item) unlock_ = lock(market + item);
    held_ = method == MarketMethod::watch || unlock_ != nullptr;
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

/// The initial goods of a seller or buyer.
struct Trader {
  std::size_t number = 0;
  Shop shop;
  MarketLock lock{};  // null with `watch`
  Tally tally{};

  Trader(const MarketSettings& settings, std::size_t which) : number(which), shop(settings.data) {
    if (settings.method != MarketMethod::watch) lock = settings.connect();
  }
};

/// Makes the items that are listed next. That is not measured.
void make_items(Shop& shop, const std::string& inventory, std::size_t seller, std::uint64_t first) {
  for (std::uint64_t number = first; number < first + stock; ++number) {
    shop.send({"SADD", inventory, fmt::format("{}.{}", seller, number)});
  }
  static_cast<void>(shop.last_of(stock));
}

void sell(const MarketSettings& settings, Trader& trader, Clock::time_point end) {
  Shop& shop = trader.shop;
  Tally& tally = trader.tally;
  const std::size_t seller = trader.number;
  const std::string inventory = fmt::format("inventory:{}", seller);
  for (std::uint64_t number = 0; !over(settings, end);) {
    const std::string item = fmt::format("{}.{}", seller, number);
    if (number % stock == 0) make_items(shop, inventory, seller, number);
    const Guard guard(settings.method, trader.lock, item);
    if (!guard.held()) {
      ++tally.retries;
      continue;
    }
    if (settings.method == MarketMethod::watch) shop.send({"WATCH", inventory});
    shop.send({"SISMEMBER", inventory, item});
    const Reply mine = shop.last_of(settings.method == MarketMethod::watch ? 2 : 1);
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

/// The outcome of a purchase; `gone`: another buyer had the item already.
enum class Purchase { done, in_vain, gone };

Purchase try_to_buy(MarketMethod method, Trader& trader, const std::string& buyer,
                    const std::string& item) {
  Shop& shop = trader.shop;
  const bool watches = method == MarketMethod::watch;
  const Guard guard(method, trader.lock, item);
  if (!guard.held()) return Purchase::in_vain;
  if (watches) shop.send({"WATCH", market, "users:" + buyer});
  shop.send({"HGET", "users:" + buyer, "funds"});
  shop.send({"ZSCORE", market, item});
  const Reply funds = shop.last_of(watches ? 2 : 1);
  const Reply asked = shop.read();
  if (asked->type == REDIS_REPLY_NIL) {
    if (watches) static_cast<void>(shop.ask({"UNWATCH"}));
    return Purchase::gone;
  }
  if (funds->type != REDIS_REPLY_STRING || std::stoll(funds->str) < std::stoll(asked->str)) {
    throw std::runtime_error("a buyer ran out of money");
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

void buy(const MarketSettings& settings, Trader& trader, Clock::time_point end) {
  Shop& shop = trader.shop;
  Tally& tally = trader.tally;
  const std::string buyer = fmt::format("buyer/{}", trader.number);
  std::minstd_rand random(static_cast<unsigned>(trader.number) + 1);
  std::uint64_t offered = 0;
  while (!over(settings, end)) {
    // A random offer of those that there were a moment ago.
    const auto which = std::to_string(random() % std::max<std::uint64_t>(offered, 1));
    shop.send({"ZCARD", market});
    shop.send({"ZRANGE", market, which, which});
    offered = static_cast<std::uint64_t>(shop.read()->integer);
    const Reply offer = shop.read();
    if (offer->elements == 0) {
      std::this_thread::yield();
      continue;
    }
    const std::string item(offer->element[0]->str, offer->element[0]->len);
    const auto start = Clock::now();
    Purchase purchase = Purchase::in_vain;
    while (purchase == Purchase::in_vain && !over(settings, end)) {
      purchase = try_to_buy(settings.method, trader, buyer, item);
      if (purchase == Purchase::in_vain) ++tally.retries;
    }
    if (purchase == Purchase::gone) ++tally.gone;
    if (purchase != Purchase::done) continue;
    tally.took.record(Clock::now() - start);
    ++tally.done;
  }
}

/// Checks that no money was made or lost: whatever the order of the clients, the sum stays.
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
    if (funds->type == REDIS_REPLY_STRING) spent += funds_of_a_buyer - std::stoll(funds->str);
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
  MarketResult result;
  try {
    Shop shop(settings.data);
    static_cast<void>(shop.ask({"FLUSHDB"}));
    std::vector<Trader> sellers;
    for (std::size_t i = 0; i < settings.sellers; ++i) sellers.emplace_back(settings, i);
    std::vector<Trader> buyers;
    for (std::size_t i = 0; i < settings.buyers; ++i) {
      buyers.emplace_back(settings, i);
      static_cast<void>(shop.ask(
          {"HSET", fmt::format("users:buyer/{}", i), "funds", std::to_string(funds_of_a_buyer)}));
    }

    const auto start = Clock::now();
    const auto end = start + settings.duration;
    const auto guarded = [&settings, end](auto work, Trader& trader) {
      try {
        work(settings, trader, end);
      } catch (const std::exception& error) {
        trader.tally.problem = error.what();
      }
    };
    {
      std::vector<std::jthread> threads;
      threads.reserve(sellers.size() + buyers.size());
      for (Trader& seller : sellers) threads.emplace_back([&] { guarded(sell, seller); });
      for (Trader& buyer : buyers) threads.emplace_back([&] { guarded(buy, buyer); });
    }
    result.elapsed = Clock::now() - start;
    for (const Trader& seller : sellers) {
      if (!seller.tally.problem.empty()) return seller.tally.problem;
      result.listed += seller.tally.done;
      result.retries += seller.tally.retries;
    }
    for (const Trader& buyer : buyers) {
      if (!buyer.tally.problem.empty()) return buyer.tally.problem;
      result.bought += buyer.tally.done;
      result.retries += buyer.tally.retries;
      result.gone += buyer.tally.gone;
      result.purchase.merge(buyer.tally.took);
    }
    result.wrong = audit(settings, result);
  } catch (const std::exception& error) {
    return std::string(error.what());
  }
  return result;
}

}  // namespace redlock::bench
