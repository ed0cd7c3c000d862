#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <tuple>
#include <vector>

namespace redlock::simulation {

/// Notifies a waiting client; returns whether it listens. `before`: clients notified before it.
using Publish =
    std::function<bool(std::uint64_t client, std::size_t resource, std::uint32_t before)>;

/// The bit of a reader's entry.
inline constexpr std::uint64_t sharing = std::uint64_t{1} << 60;
[[nodiscard]] constexpr std::uint64_t client_of(std::uint64_t entry) noexcept {
  return entry & ~sharing;
}

/// The queue of a resource on a node, as parts/tickets.lua keeps it.
class ModelQueue {
 public:
  /// Queues the client at its ticket, or at `ticket` if that is higher; without either, at a new
  /// one. Returns the ticket.
  std::int64_t enqueue(std::uint64_t client, std::int64_t ticket) {
    std::int64_t wanted = std::max(ticket, score(client).value_or(0));
    if (wanted == 0) wanted = next_;
    put(client, wanted);
    next_ = std::max(next_, wanted + 1);
    return wanted;
  }
  /// Keeps the queue for `milliseconds` from now, by the node's clock, but renews its expiry only
  /// now and then. Returns whether it did.
  bool keep_for(std::int64_t milliseconds, std::int64_t now) {
    const bool is_due = 100 * (ends_ - now) < 85 * milliseconds;
    if (is_due) ends_ = now + milliseconds;
    return is_due;
  }
  void expire(std::int64_t milliseconds) {
    if (milliseconds >= ends_) *this = ModelQueue();
  }
  [[nodiscard]] std::int64_t ends() const { return ends_; }
  void remove(std::uint64_t client) {
    std::erase_if(entries_, [&](const Entry& entry) { return entry.client == client; });
  }
  /// Removes all entries of the client, a reader's included.
  void remove_all(std::uint64_t client) {
    std::erase_if(entries_, [&](const Entry& entry) { return client_of(entry.client) == client; });
  }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  /// Whether somebody was queued lately, which is all that a plain command sees.
  [[nodiscard]] bool exists() const { return next_ > 1 || !entries_.empty(); }
  [[nodiscard]] bool has(std::uint64_t client) const { return score(client).has_value(); }
  /// The client's ticket; 0: it is not queued.
  [[nodiscard]] std::int64_t ticket(std::uint64_t client) const {
    return score(client).value_or(0);
  }
  /// The client at that queue position; 0: nobody.
  [[nodiscard]] std::uint64_t at(std::size_t place) const {
    return place < entries_.size() ? entries_[place].client : 0;
  }
  [[nodiscard]] std::uint64_t last() const { return empty() ? 0 : entries_.back().client; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::int64_t score = 0;
    std::uint64_t client = 0;
    /// Equal tickets are in the order of the servers' members: '~' after digits.
    friend auto operator<=>(const Entry& a, const Entry& b) {
      return std::tuple(a.score, a.form(), a.client) <=> std::tuple(b.score, b.form(), b.client);
    }
    [[nodiscard]] bool form() const { return (client & sharing) != 0; }
  };
  [[nodiscard]] std::optional<std::int64_t> score(std::uint64_t client) const {
    for (const Entry& entry : entries_) {
      if (entry.client == client) return entry.score;
    }
    return std::nullopt;
  }
  void put(std::uint64_t client, std::int64_t score) {
    remove(client);
    entries_.push_back({score, client});
    std::sort(entries_.begin(), entries_.end());
  }

  std::vector<Entry> entries_;  ///< in queue order
  std::int64_t next_ = 1;       ///< the next new ticket
  std::int64_t ends_ = 0;
};

}  // namespace redlock::simulation
