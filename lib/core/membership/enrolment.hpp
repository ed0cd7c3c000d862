#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/membership/marker.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/randomness.hpp"
#include "core/vocabulary/time.hpp"

namespace redlock::core {

/// A client's view of one configured node.
struct NodeView {
  std::string_view name{};  ///< the URL without user and password
  /// The node is connected, able to vote, and no duplicate of another. If not, `marker` proves
  /// nothing about other nodes.
  bool usable = false;
  const Marker* marker = nullptr;  ///< as last read on this connection; none: unusable
  /// The member that the node at this URL was by an active marker, on this or an earlier
  /// connection; empty: none. Clients may know a node by another name than the list of members.
  std::string_view known_as{};
  /// A learned name of a node that is in the view by another name: an opening skips it.
  bool alias = false;
  /// Other names that lead to the same server, learned members among them.
  std::vector<std::string_view> also_named{};
};

/// How nodes that belong to no deployment become members without an operator:
///
/// *Adoption*: a node that lost its marker is taken back by the deployment that still has enough
/// members and names it, never because the client's own list says so: lists may be out of date. The
/// node comes back under a new admission, which the others are given first. They are read again
/// after the blank marker was seen: earlier readings prove nothing about the deployment that the
/// node has forgotten. From then on no quorum carries the admission of the server that was the
/// member before: an address may lead to two servers, and data may be put back. A member whose
/// membership went to another server, and which is still there, is taken back too, but late.
///
/// *Raising*: members that were not there when a node was taken back get its admission too.
///
/// *Opening*: a deployment of which no node has a marker is opened in two phases, so that at most
/// one id can ever become active, whatever lists other clients have. Every node is first marked
/// `opening`; once all were read again and carry the same opening, each becomes active, with a
/// quarantine. A client that finds an opening half done goes on with it; if two openings met, with
/// the one whose id comes first. An opening with other names of the members is *foreign*: it is
/// finished if it only lacks its last step. Otherwise the client waits, and replaces the foreign
/// opening if nothing moves: the client that began it is gone, or waits as well.
///
/// Every writing is a compare-and-set of the marker in the view. No decision may depend on a marker
/// that was read on an earlier connection, except for `known_as`.
class Enrolment {
 public:
  /// `own_quarantine` lasts as long as a lease of this client can; `max_ttl` is the client's.
  Enrolment(Duration max_ttl, Duration own_quarantine);

  struct Nothing {
    friend bool operator==(Nothing, Nothing) = default;
  };
  /// Replace the node's marker by this one, if it is still the one in the view.
  struct Write {
    NodeIndex node = 0;
    Marker marker{};
    bool as_new = false;    ///< it becomes active: see opened_as_new
    Duration quarantine{};  ///< begins with the writing; zero: leave it as it is
  };
  /// Read these nodes' markers again, and call confirmed() for each that is still the one in the
  /// view. (One that is not ends the connection, so that the view changes.) Reading twice does no
  /// harm. A reading confirms only for the pass that requested it.
  struct Confirm {
    NodeSet nodes{};
    std::uint16_t pass = 0;  ///< never 0
  };
  /// Call waited() after this time. Meanwhile read the markers at least every second: a foreign
  /// opening may be abandoned. next() can return the same wait many times.
  struct Wait {
    Duration length{};
    std::uint16_t number = 0;  ///< never 0
  };
  using Step = std::variant<Nothing, Write, Confirm, Wait>;

  /// The next step. Call it again after every change of the view, including the client's own
  /// writing, and after confirmed(). One Write may be under way at a time.
  [[nodiscard]] Step next(std::span<const NodeView> nodes, Randomness& random);
  /// The node's marker was read again in this pass, and is the one in the view.
  void confirmed(NodeIndex node, std::uint16_t pass) noexcept {
    if (pass == pass_number_) confirmed_.add(node);
  }
  /// The wait is over. A wait that a change of the view has ended does not count.
  void waited(std::uint16_t number) noexcept {
    if (number == wait_.number) wait_over_ = true;
  }

 private:
  [[nodiscard]] Step adopt(std::span<const NodeView> nodes, Randomness& random);
  [[nodiscard]] std::optional<Step> take_back(std::span<const NodeView> nodes, NodeIndex node,
                                              Randomness& random);
  [[nodiscard]] NodeSet confirm(std::span<const NodeView> nodes, NodeSet which);
  [[nodiscard]] Step open(std::span<const NodeView> nodes, Randomness& random);
  [[nodiscard]] std::optional<Step> await_foreign(std::span<const NodeView> nodes, NodeSet foreign,
                                                  Randomness& random);
  [[nodiscard]] Step mark_opening(std::span<const NodeView> nodes, NodeSet which,
                                  const Marker* begun, Randomness& random);
  [[nodiscard]] bool was_awaited(std::span<const NodeView> nodes, NodeIndex node) const;
  [[nodiscard]] Step await_replaced(std::span<const NodeView> nodes);
  [[nodiscard]] Step await_all(std::span<const NodeView> nodes, Duration length);
  [[nodiscard]] Step raise_members(std::span<const NodeView> nodes, Randomness& random);
  [[nodiscard]] Step activate(std::span<const NodeView> nodes, const Marker& opening, NodeSet which,
                              Randomness& random) const;
  void draw_id(std::span<const NodeView> nodes, Randomness& random);

  std::chrono::milliseconds max_ttl_;
  Duration own_quarantine_;
  /// By node, the incarnation that the current pass of confirmation is about.
  std::vector<std::string> pass_;
  std::uint16_t pass_number_ = 0;
  NodeSet confirmed_;  ///< nodes that were confirmed in this pass
  /// The last id that this client has drawn.
  std::string drawn_;
  /// By node, the incarnation that this client read before it drew that id. Empty if a node was a
  /// member before: then the deployment is not new.
  std::vector<std::string> read_;
  /// By node, the incarnation that this client has written since then in place of that in `read_`.
  std::vector<std::string> marked_;
  /// By node, the incarnation that the last wait is about.
  std::vector<std::string> awaited_;
  Wait wait_;
  bool wait_over_ = false;
};

/// Members of the deployment that are not in the view: a client with an old list should connect to
/// them too. A list of members counts only if a majority of them carries it here, word for word,
/// and no fewer nodes than the client's `quorum`. Empty: no member is unknown, or no list counts.
/// Call it after all nodes were connected to: before, nobody knows which members they are.
[[nodiscard]] std::vector<std::string> unknown_members(std::span<const NodeView> nodes,
                                                       std::size_t quorum);

/// The prospects of a client without a quorum.
struct Outlook {
  /// Why no waiting gives the client a quorum: somebody has to change something.
  enum class Impasse : std::uint8_t {
    none,
    other_max_ttl,  ///< too few nodes are left that have not met clients with another max TTL
    other_servers,  ///< too few are left whose deployment has the client's `servers=` for them
    forgotten,      ///< too few members are left that have not lost their data
  };
  Impasse impasse = Impasse::none;
  std::size_t members = 0;  ///< number of members of the deployment that most nodes carry; 0: none
  std::size_t forgot = 0;   ///< those that answer, and have lost their data
  std::size_t needed = 0;   ///< how many members that remember take the others back
  bool are_there = false;   ///< that many are connected
  /// Members that the client's list lacks. Empty as long as each can be a node that the client has
  /// not reached, by another name.
  std::vector<std::string> unlisted{};
  /// If the list lacks members: what it has that is not a member's URL.
  std::vector<std::string> strangers{};
};

/// `quorum`: what the client needs. `others`: the nodes that have met clients with another max TTL.
[[nodiscard]] Outlook outlook_of(std::span<const NodeView> nodes, std::size_t quorum,
                                 NodeSet others);

}  // namespace redlock::core
