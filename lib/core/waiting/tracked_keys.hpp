#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/engine/messages.hpp"
#include "core/engine/outbox.hpp"
#include "core/nodes/node_set.hpp"
#include "core/nodes/nodes.hpp"

namespace redlock::core {

/// Keys of one kind whose changes this client wants to know of. A node that is asked to track a key
/// notifies us of the next change, once. Knows nothing of the reasons: they are its callers'.
class TrackedKeys {
 public:
  struct Key {
    std::uint32_t id = 0;    ///< in the stamps of requests about it
    std::uint32_t uses = 0;  ///< callers that want to know
    NodeSet asked;           ///< to track it, and it has not changed since
    NodeSet tracking;        ///< did once, on this connection: changes are not missed there
    NodeSet present;         ///< where it was there, as far as the node has told us
    NodeSet settled;         ///< has answered since it was asked, so that `present` is of now
    NodeSet may_be_news;     ///< asked, and nobody has looked at the key since
    std::optional<std::uint32_t> observation;     ///< of a resource
    ClaimId lease;                                ///< whose queue it is
    OtherClients others = OtherClients::unknown;  ///< what its holder was notified of
  };
  /// In an order of its own, so that a seed reproduces.
  using Keys = std::map<std::string, Key, std::less<>>;
  using Entry = Keys::value_type;

  TrackedKeys(Tracked kind, const Nodes& nodes, Outbox& outbox)
      : kind_(kind), nodes_(nodes), outbox_(outbox) {}

  /// A step begins. What nobody uses any more is forgotten: the last step's commands named the
  /// keys.
  void begin_step() {
    if (!unused_.empty()) forget_unused();
  }

  /// One more caller wants to know. Asks the nodes.
  Entry& use(std::string_view key);
  void stop(std::string_view key);
  /// Asks the nodes that are not asked.
  void ask(Entry& entry);
  [[nodiscard]] Entry* find(std::string_view key);
  [[nodiscard]] bool empty() const noexcept { return keys_.empty(); }

  // --- events -----------------------------------------------------------------------------------
  /// The key that was asked about; null: nobody uses it any more, or the node does not track it.
  struct Answered {
    Entry* entry = nullptr;
    bool is_news = false;  ///< it came or went, and no notification said so
  };
  Answered answered(const Answer& answer);
  Entry* changed(const Changed& change);
  /// We write the key there ourselves: the node does not notify us, and stops tracking it.
  void written(std::string_view key, NodeSet nodes) {
    if (keys_.empty()) return;
    if (Entry* const entry = find(key)) entry->second.asked = entry->second.asked - nodes;
  }
  /// A request of ours that may write the key left. If the key is watched, the nodes are asked
  /// again at the end of the step; waiters ask again by themselves.
  void may_be_written(std::string_view key, NodeSet nodes) {
    if (keys_.empty()) return;
    if (Entry* const entry = find(key)) ask_again(*entry, nodes);
  }
  /// The answer to another request of ours says whether it is there. Where that is news, the server
  /// noticed its end while it served us, of which it does not notify us (NOLOOP), and tracks it no
  /// more: it is asked again at the end of the step.
  void seen(std::string_view key, NodeIndex node, bool is_there);
  /// What came up in this step.
  void end_step() {
    if (!to_ask_.empty()) ask_what_is_due();
  }
  void came_up(NodeIndex node);
  void dropped(NodeIndex node);

  template <typename Visit>
  void each(Visit&& visit) {
    for (Entry& entry : keys_) {
      if (entry.second.uses > 0) visit(entry);
    }
  }

  /// Nodes that can track.
  [[nodiscard]] NodeSet able() const;

 private:
  void forget_unused();
  void ask_again(Entry& entry, NodeSet nodes);
  void ask_what_is_due();

  Tracked kind_;
  const Nodes& nodes_;
  Outbox& outbox_;
  Keys keys_;
  std::unordered_map<std::uint32_t, Entry*> by_id_;
  std::vector<std::string> unused_;
  std::vector<std::uint32_t> to_ask_;
  std::uint32_t last_id_ = 0;
};

}  // namespace redlock::core
