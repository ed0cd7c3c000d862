#pragma once

#include <cstdint>
#include <string>

#include "unit/core/harness.hpp"

/// Clients that were refused, and wait.
namespace redlock::core::test {

inline const std::string holder(40, 'a');

/// Three nodes that all have the key of `whose` for ten seconds, and refused a caller once.
struct Refused : Connected {
  explicit Refused(const std::string& whose = holder) : Connected(3) {
    shows_notifications = true;
    random.shortest = true;
    begun = acquire(1, 10s, 60s);
    after_refusal = refuse(whose);
  }
  std::string refuse(const std::string& whose) {
    const std::string out = refused({0, 1}, whose, 10s, {7});
    refused({2}, whose, 10s, {7});
    // For an interval, the third node is also asked to undo its refused attempt.
    if (open(2) > 0) answer(2, Reply::gone);
    return out;
  }
  std::string begun;
  std::string after_refusal;
};

/// A refused caller whose client is in the queues of all nodes, with ticket 7.
struct Queued : Refused {
  explicit Queued(const std::string& whose = holder) : Refused(whose) {
    subscribed({0, 1, 2});
    queued({0, 1, 2}, {7});
  }
};

inline const std::string foreign = "another library's token";

inline NodeUp tracking_node() {
  NodeUp node;
  node.capabilities = {Capability::run_scripts, Capability::track};
  return node;
}

/// Three nodes that track keys.
struct Tracking : Harness {
  Tracking() : Harness(3) {
    shows_notifications = true;
    random.shortest = true;
    tick();
    for (NodeIndex node = 0; node < 3; ++node) up_as(node, tracking_node());
  }
};

inline Acquire reading(std::uint64_t request) {
  Acquire event;
  event.request = CallId{request};
  event.resource = "resource";
  event.ttl = 10s;
  event.wait = 60s;
  event.group = "shared";
  return event;
}

/// A reader that met a writer's lease, queued on all nodes.
struct QueuedReader : Connected {
  QueuedReader() : Connected(3) {
    shows_notifications = true;
    random.shortest = true;
    step(reading(1));
    answers({0, 1}, Reply::taken, holder, 10s);
    answer(2, Reply::taken, holder, 10s);
    subscribed({0, 1, 2});
    queued({0, 1, 2}, {7});
  }
};

}  // namespace redlock::core::test
