#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/nodes/nodes.hpp"
#include "core/nodes/outbox.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/node_set.hpp"

namespace redlock::core {

/// Owns the keys of one kind whose changes this client wants to know of. A node that is asked to
/// track a key notifies us of the next change, once. Does not know the reasons of its callers.
class TrackedKeys {
 public:
  struct Key {
    std::uint32_t id = 0;    ///< the key's number in the stamps of requests about it
    std::uint32_t uses = 0;  ///< callers that want to know of changes
    NodeSet asked;     ///< nodes that were asked to track the key and have reported no change since
    NodeSet tracking;  ///< nodes that have tracked the key on this connection: no change is missed
                       ///< there
    NodeSet present;   ///< nodes that have the key, by their last answer
    NodeSet answered;  ///< nodes that have answered since they were asked, so `present` is current
    NodeSet may_be_news;  ///< nodes that were asked after the key was last inspected: their answers
                          ///< may be news
    std::optional<std::uint32_t> observation;  ///< the observation of a resource
    ClaimId lease;                             ///< the lease whose queue this is
    /// The last notification of the holder of `lease`.
    OtherClients others = OtherClients::unknown;
  };
  /// Ordered by key, so that a seed reproduces a run.
  using Keys = std::map<std::string, Key, std::less<>>;
  using Entry = Keys::value_type;

  TrackedKeys(Tracked kind, const Nodes& nodes, Outbox& outbox)
      : kind_(kind), nodes_(nodes), outbox_(outbox) {}

  /// A step begins: unused keys are forgotten now, because the last step's commands named them.
  void begin_step() {
    if (!unused_.empty()) forget_unused();
  }

  /// One more caller wants to know of changes. Asks the nodes to track the key.
  Entry& use(std::string_view key);
  void stop(std::string_view key);
  /// Asks the nodes that are not in `asked` to track the key.
  void ask(Entry& entry);
  [[nodiscard]] Entry* find(std::string_view key);
  [[nodiscard]] bool empty() const noexcept { return keys_.empty(); }

  // --- events -----------------------------------------------------------------------------------
  /// The key that a node answered about; null: it is no longer used, or the node does not track it.
  struct Answered {
    Entry* entry = nullptr;
    bool is_news = false;  ///< the key appeared or went, and no notification said so
  };
  Answered answered(const Answer& answer);
  Entry* changed(const Changed& change);
  /// We have written the key on these nodes: they do not notify us, and stop tracking it.
  void written(std::string_view key, NodeSet nodes) {
    if (keys_.empty()) return;
    if (Entry* const entry = find(key)) entry->second.asked = entry->second.asked - nodes;
  }
  /// A request of ours that may write the key left for these nodes. If the key is observed or is a
  /// queue, they are asked again at the end of the step; waiters ask again by themselves.
  void may_be_written(std::string_view key, NodeSet nodes) {
    if (keys_.empty()) return;
    if (Entry* const entry = find(key)) ask_again(*entry, nodes);
  }
  /// The answer to another request of ours says whether the key is there. A difference means that
  /// the server noticed the key's end while it served us: it does not notify us of that (NOLOOP),
  /// and no longer tracks the key. It is asked again at the end of the step.
  void seen(std::string_view key, NodeIndex node, bool is_there);
  /// The step ends: asks the nodes that this step made due.
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

  /// Nodes that can track keys.
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
