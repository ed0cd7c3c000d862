#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/request.hpp"
#include "redis/batches/fenced_sets.hpp"
#include "redis/connection/connection.hpp"
#include "redis/requests/shared_call.hpp"
#include "redis/values/dialect.hpp"
#include "runtime/node.hpp"

namespace redlock::runtime {

/// Gathers successive requests for the same nodes: encodes them once, and hands them to the
/// connections together. Successive releases become one call (see redis::SharedCall), and so do
/// renewals, and fenced SETs in their short form.
class Gathered {
 public:
  using Nodes = std::vector<std::unique_ptr<Node>>;
  /// `nodes` must outlive this object.
  explicit Gathered(const Nodes& nodes) : nodes_(nodes) {}

  /// Requests added from now on are for `nodes`. First sends those for other nodes.
  void begin(core::NodeSet nodes);
  void add(std::string_view encoded, const core::Stamp& stamp);
  /// Adds a request of a verb that has a shared form.
  void add_to_call(const core::Request& request);
  /// `set`: the request's SET, encoded. `dialect`: the dialect that all the nodes share.
  void add_fenced_set(std::string_view set, const core::Request& request, redis::Dialect dialect);

  /// Hands everything to the connections. Must be called before anything else is sent, to keep the
  /// order.
  void send();

 private:
  void close_call();
  void close_shared_call();
  void close_fenced_sets();
  void hand_over(std::string_view yes = {});

  const Nodes& nodes_;
  core::NodeSet for_;
  std::string bytes_;
  std::vector<redis::Sent> requests_;  // the requests in bytes_
  // After bytes_, requests wait in one of these two:
  redis::SharedCall shared_;
  redis::FencedSets fenced_sets_;
  std::vector<redis::Sent> in_call_;
  redis::Dialect dialect_ = redis::Dialect::classic;  // the dialect of fenced_sets_
  std::string yes_;
};

}  // namespace redlock::runtime
