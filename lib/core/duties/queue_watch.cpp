#include "core/duties/queue_watch.hpp"

namespace redlock::core {

void QueueWatch::begin(Claim& claim) {
  if (claim.watches_queue) return;
  claim.watches_queue.by(me) = true;
  TrackedKeys::Entry& entry = queues_.use(claim.resource());
  entry.second.lease = claim.id();
  entry.second.others = OtherClients::unknown;
  report(entry);
}

void QueueWatch::end(Claim& claim) {
  if (!claim.watches_queue) return;
  claim.watches_queue.by(me) = false;
  queues_.stop(claim.resource());
}

void QueueWatch::answered(const Answer& answer) {
  if (TrackedKeys::Entry* const entry = queues_.answered(answer).entry) report(*entry);
}

void QueueWatch::changed(const Changed& event) {
  TrackedKeys::Entry* const entry = queues_.changed(event);
  if (entry == nullptr) return;
  // A client joined the queue or left it. Until the node has answered, somebody counts as waiting.
  entry->second.present.add(event.node);
  report(*entry);
  queues_.ask(*entry);
}

void QueueWatch::joined(const std::string& resource) {
  if (TrackedKeys::Entry* const entry = queues_.find(resource)) report(*entry);
}

void QueueWatch::node_dropped() {
  queues_.each([this](TrackedKeys::Entry& entry) { report(entry); });
}

void QueueWatch::report(TrackedKeys::Entry& entry) {
  TrackedKeys::Key& key = entry.second;
  OtherClients others = OtherClients::unknown;
  if (key.tracking.size() >= settings_.quorum) others = OtherClients::none;
  // A node does not notify us when it queues this client.
  if (!key.present.empty() || wait_queue_.has_waiters(entry.first)) others = OtherClients::waiting;
  if (others == OtherClients::waiting) wait_queue_.note_contended(entry.first);
  if (others == key.others) return;
  key.others = others;
  outbox_.emit(QueueWatched{key.lease, others});
}

}  // namespace redlock::core
