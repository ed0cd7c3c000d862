#include "redlock/inspection.hpp"

#include "bindings/c/boundary.hpp"

namespace redlock::bindings {
namespace {

/// The texts as C strings, which point into the argument.
[[nodiscard]] std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> all;
  all.reserve(texts.size());
  for (const std::string& text : texts) all.push_back(text.c_str());
  return all;
}

struct Inspected : View<redlock_inspection, Inspection> {
  explicit Inspected(Inspection given) : View(std::move(given)) {
    state = static_cast<redlock_state>(from.state);
    kind = static_cast<redlock_lock_kind>(from.kind);
    holder = token_texts.add(from.holder);
    owner = text_or_null(from.owner);
    holder_name = from.holder_name.c_str();
    waiters = from.waiters;
    next = from.next ? from.next->id.c_str() : "";
    next_name = from.next ? from.next->name.c_str() : "";
    quorum = from.quorum;
    broken_count = from.broken.size();
    for (const BrokenLock& lock : from.broken) {
      const auto since_1970 = lock.time.time_since_epoch();
      broken.push_back({to_ns(since_1970), token_texts.add(lock.token), lock.by.c_str()});
    }
    node_count = from.nodes.size();
    tokens.reserve(from.nodes.size());
    names.reserve(from.nodes.size());
    for (const NodeInspection& node : from.nodes) add(node);
  }

  void add(const NodeInspection& node) {
    std::vector<const char*>& held = tokens.emplace_back();
    for (const Token& token : node.tokens) held.push_back(token_texts.add(token));
    names.push_back(pointers(node.names));
    redlock_node_inspection to{};
    to.url = node.url.c_str();
    to.kind = static_cast<redlock_lock_kind>(node.kind);
    to.holder = token_texts.add(node.holder);
    to.owner = text_or_null(node.owner);
    to.holder_name = node.holder_name.c_str();
    to.holds = node.holds;
    to.waiters = node.waiters;
    to.tokens = held.data();
    to.token_count = held.size();
    to.names = names.back().data();
    to.name_count = names.back().size();
    to.next = node.next ? node.next->id.c_str() : "";
    to.next_name = node.next ? node.next->name.c_str() : "";
    to.remaining_ns = node.remaining ? to_ns(*node.remaining) : -1;
    to.fencing_token = node.fencing_token.value_or(FencingToken()).value();
    to.quarantine_ns = to_ns(node.quarantine);
    to.error = node.error.c_str();
    nodes.push_back(to);
  }

  TokenTexts token_texts{};
  std::vector<redlock_broken_lock> broken{};
  std::vector<redlock_node_inspection> nodes{};
  std::vector<std::vector<const char*>> tokens{};
  std::vector<std::vector<const char*>> names{};
};

}  // namespace

redlock_inspection* make_inspection(Inspection inspection) {
  return new_object<Inspected>(std::move(inspection));
}

}  // namespace redlock::bindings

REDLOCK_PART(redlock_inspection_node, redlock_inspection, Inspected, nodes)
REDLOCK_PART(redlock_inspection_broken, redlock_inspection, Inspected, broken)

void redlock_inspection_free(redlock_inspection* inspection) {
  bound::dispose<bound::Inspected>(inspection);
}
