#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/request.hpp"
#include "core/nodes/node_set.hpp"
#include "redis/wire/connection.hpp"
#include "redis/wire/dialect.hpp"
#include "redis/wire/fenced_sets.hpp"
#include "redis/wire/shared_call.hpp"
#include "runtime/node.hpp"

namespace redlock::runtime {

/// Requests for the same nodes, in their order: encoded once, and handed to the connections
/// together. Releases that follow one another are one call (see redis::SharedCall), and so are
/// renewals, and fenced SETs in their short form.
class Gathered {
 public:
  using Nodes = std::vector<std::unique_ptr<Node>>;
  /// `nodes` outlive it.
  explicit Gathered(const Nodes& nodes) : nodes_(nodes) {}

  /// What is added from now on is for these. Sends first what was for others.
  void begin(core::NodeSet nodes);
  void add(std::string_view encoded, const core::Stamp& stamp);
  /// Of a verb that has a form for that.
  void add_to_call(const core::Request& request);
  /// `set`: its SET, encoded. The nodes have a dialect in common, `dialect`.
  void add_fenced_set(std::string_view set, const core::Request& request, redis::Dialect dialect);

  /// Hands all of it to the connections. Before anything else is sent, so that the order stays.
  void send();

 private:
  void close_call();
  void close_shared_call();
  void close_fenced_sets();
  void hand_over(std::string_view yes = {});

  const Nodes& nodes_;
  core::NodeSet for_;
  std::string bytes_;
  std::vector<redis::Sent> requests_;  // in bytes_
  // Behind them, one of the two:
  redis::SharedCall shared_;
  redis::FencedSets fenced_sets_;
  std::vector<redis::Sent> in_call_;
  redis::Dialect dialect_ = redis::Dialect::classic;  // of fenced_sets_
  std::string yes_;
};

}  // namespace redlock::runtime
