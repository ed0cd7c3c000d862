#include "chaos/unsafe_contender.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "chaos/checker/checker_history.hpp"
#include "chaos/cluster_service.hpp"
#include "chaos/recorder.hpp"
#include "chaos/terms.hpp"
#include "common/servers/loopback_server.hpp"
#include "common/servers/sentinel_group.hpp"

namespace redlock::chaos {
namespace {

using std::chrono::milliseconds;

constexpr UnsafeLock unsafe_locks[] = {{"set", 0}, {"set-wait", 1}};
constexpr std::string_view delete_own =
    "EVAL \"if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return "
    "0\" 1";

std::uint16_t port_in(std::string_view text) {
  std::uint16_t port = 0;
  std::from_chars(text.data(), text.data() + text.size(), port);
  return port;
}

/// The ports of the sentinels or servers in the address of the node.
std::vector<std::uint16_t> guides_of(std::string_view url) {
  std::vector<std::uint16_t> ports;
  url.remove_prefix(url.find("//") + 2);
  url = url.substr(0, url.find('/'));
  for (std::size_t at = 0; (at = url.find(':', at)) != std::string_view::npos;) {
    ports.push_back(port_in(url.substr(++at)));
  }
  return ports;
}

/// The name of the service in that address.
std::string_view service_of(const ContenderRequest& request) {
  std::string_view url = request.nodes.front();
  url.remove_prefix(url.rfind('/') + 1);
  return url.substr(0, url.find('?'));
}

class UnsafeContender {
 public:
  UnsafeContender(const ContenderRequest& request, const UnsafeLock& lock)
      : request_(request),
        lock_(lock),
        recorder_(request.folder / history_file_name(request.slot, request.generation)),
        dice_(request.seed),
        guides_(guides_of(request.nodes.front())) {}

  void run() {
    while (!healed()) {
      if (!hold_once(request_.resources[dice_.below(request_.resources.size())])) rest();
    }
    for (const std::string& resource : request_.resources) {
      while (!hold_once(resource)) rest();
    }
  }

 private:
  [[nodiscard]] bool healed() const {
    struct stat status {};
    return ::stat((request_.folder / healed_file).c_str(), &status) == 0;
  }
  void rest() { std::this_thread::sleep_for(dice_.between(milliseconds{1}, milliseconds{10})); }

  /// The primary that a guide names.
  [[nodiscard]] std::optional<std::uint16_t> named_by(std::uint16_t guide) const {
    return request_.prefix.empty() ? cli::named_primary({.port = guide}, service_of(request_))
                                   : primary_of_slot(guide);
  }

  /// The answer of the server that a guide last named; empty without one.
  std::string ask(const std::string& line) {
    if (!primary_) {
      guide_ = (guide_ + 1) % guides_.size();
      const auto port = named_by(guides_[guide_]);
      if (!port) return {};
      primary_.emplace(cli::ServerAddress{.port = *port});
    }
    std::string answer = primary_->ask(line, "\r\n");
    // Among others, it may be a replica now.
    if (answer.empty() || answer.starts_with('-')) primary_.reset();
    return answer;
  }

  bool hold_once(const std::string& resource) {
    const milliseconds ttl = dice_.between(shortest_ttl, longest_ttl);
    const std::string token =
        fmt::format("{}.{}.{}", request_.slot, request_.generation, ++leases_);
    const std::string key = request_.prefix + resource;
    const std::int64_t asked = boot_now();
    const std::string set = ask(fmt::format("SET {} {} NX PX {}", key, token, ttl.count()));
    if (set != "+OK\r\n") return failed(resource, asked, set.starts_with("$-1") ? "held" : "error");
    if (lock_.acknowledgements > 0 && !acknowledged()) {
      static_cast<void>(ask(fmt::format("{} {} {}", delete_own, key, token)));
      return failed(resource, asked, "unacknowledged");
    }
    const std::int64_t granted = boot_now();
    const std::int64_t deadline = asked + std::chrono::nanoseconds(ttl).count() * 99 / 100;
    recorder_.write(fmt::format("granted {} {} {} {} {} {} 0", leases_, resource, asked, granted,
                                deadline, std::chrono::nanoseconds(ttl).count()));
    hold(deadline);
    if (boot_now() >= deadline) return true;
    recorder_.write(fmt::format("ended {} {} released", leases_, boot_now()));
    static_cast<void>(ask(fmt::format("{} {} {}", delete_own, key, token)));
    return true;
  }

  bool acknowledged() {
    const std::string answer = ask(fmt::format("WAIT {} 100", lock_.acknowledgements));
    return answer.starts_with(':') &&
           port_in(std::string_view(answer).substr(1)) >= lock_.acknowledgements;
  }

  /// For about as long as contenders hold our locks.
  void hold(std::int64_t deadline) {
    for (std::int64_t i = dice_.between(1, 3); i > 0; --i) {
      std::this_thread::sleep_for(dice_.between(milliseconds{1}, milliseconds{6}));
    }
    if (!dice_.one_in(150)) return;
    while (boot_now() < deadline) std::this_thread::sleep_for(milliseconds{5});
  }

  bool failed(const std::string& resource, std::int64_t asked, std::string_view why) const {
    recorder_.write(fmt::format("failed {} {} {} {}", resource, asked, boot_now(), why));
    return false;
  }

  const ContenderRequest& request_;
  const UnsafeLock& lock_;
  Recorder recorder_;
  Dice dice_;
  std::vector<std::uint16_t> guides_;
  std::size_t guide_ = 0;
  std::optional<cli::ServerConnection> primary_{};
  std::uint64_t leases_ = 0;
};

}  // namespace

const UnsafeLock* find_unsafe_lock(std::string_view name) noexcept {
  for (const UnsafeLock& lock : unsafe_locks) {
    if (lock.name == name) return &lock;
  }
  return nullptr;
}

std::string_view unsafe_lock_names() noexcept { return "set, set-wait"; }

int run_unsafe_contender(const ContenderRequest& request, const UnsafeLock& lock) {
  UnsafeContender(request, lock).run();
  return 0;
}

}  // namespace redlock::chaos
