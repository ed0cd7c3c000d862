#include "redlock/deployment.hpp"

#include <deque>

#include "bindings/c/boundary.hpp"

namespace redlock::bindings {
namespace {

/// The number; -1: it is not known.
template <typename Number>
[[nodiscard]] std::int64_t or_unknown(const std::optional<Number>& number) {
  return number ? static_cast<std::int64_t>(*number) : -1;
}

/// A reign, and the array of its servers.
struct HeldReign : redlock_reign_check {
  explicit HeldReign(const admin::ReignCheck& from) : redlock_reign_check() {
    held.reserve(from.seen.size());
    for (const admin::ServerCheck& server : from.seen) {
      held.push_back({server.address.c_str(), server.state.c_str(), server.offset, server.behind,
                      server.lag ? to_ns(*server.lag) : -1, server.primary});
      views.push_back(&held.back());
    }
    servers = from.servers;
    why_not = from.why_not.c_str();
    confirmed_for_ns = from.confirmed_for ? to_ns(*from.confirmed_for) : -1;
    acknowledged = from.acknowledged;
    needed = from.needed;
    attached = from.attached;
    seen = views.data();
    seen_count = views.size();
    stands = from.stands;
  }
  HeldReign(const HeldReign&) = delete;
  HeldReign& operator=(const HeldReign&) = delete;

  std::vector<redlock_server_check> held{};
  std::vector<const redlock_server_check*> views{};
};

[[nodiscard]] redlock_node_check view_of(const admin::NodeCheck& node) {
  redlock_node_check to{};
  to.url = node.url.c_str();
  to.problem = node.problem.c_str();
  to.round_trip_ns = to_ns(node.round_trip);
  to.version = node.version.c_str();
  to.server = node.server.c_str();
  to.server_version = node.server_version.c_str();
  to.role = to_string(node.role).data();
  to.run_id = node.run_id.c_str();
  to.uptime_ns = node.uptime ? to_ns(*node.uptime) : -1;
  to.persistence = to_string(node.persistence).data();
  to.maxmemory_policy = node.maxmemory_policy.c_str();
  to.used_memory = or_unknown(node.used_memory);
  to.max_memory = or_unknown(node.max_memory);
  to.clock_offset_ns = node.clock_offset ? to_ns(*node.clock_offset) : INT64_MIN;
  to.membership = to_string(node.membership).data();
  to.member = node.member.c_str();
  to.replicas = node.replicas;
  to.quarantine_ns = to_ns(node.quarantine);
  to.reachable = node.reachable;
  to.durable = node.durable;
  to.cluster = node.cluster;
  to.loading = node.loading;
  to.marked = node.marked;
  to.restarted = node.restarted;
  return to;
}

struct HeldCheck : View<redlock_deployment_check, admin::DeploymentCheck> {
  explicit HeldCheck(admin::DeploymentCheck given) : View(std::move(given)) {
    node_count = from.nodes.size();
    for (const admin::NodeCheck& node : from.nodes) {
      nodes.push_back(view_of(node));
      if (node.reign) nodes.back().reign = &reigns.emplace_back(*node.reign);
    }
    finding_count = from.findings.size();
    granted_in_ns = from.granted_in ? to_ns(*from.granted_in) : -1;
    for (const admin::Finding& finding : from.findings) {
      findings.push_back({finding.node.c_str(), to_string(finding.kind).data(),
                          finding.what.c_str(), finding.why.c_str(), finding.remedy.c_str()});
    }
  }

  std::vector<redlock_node_check> nodes{};
  std::deque<HeldReign> reigns{};
  std::vector<redlock_finding> findings{};
};

struct Membered : View<redlock_membership, admin::Membership> {
  explicit Membered(admin::Membership given) : View(std::move(given)) {
    deployment = from.deployment.c_str();
    for (const std::string& member : from.members) urls.push_back(member.c_str());
    members = urls.data();
    member_count = urls.size();
    node_count = from.nodes.size();
    for (const admin::MemberReport& node : from.nodes) {
      nodes.push_back({node.url.c_str(), to_string(node.state).data(), node.problem.c_str(),
                       node.deployment.c_str(), to_ns(node.quarantine), node.member.c_str(),
                       node.primary.c_str()});
    }
    max_ttl_ns = to_ns(from.max_ttl);
    resume = from.resume.c_str();
  }

  std::vector<const char*> urls{};
  std::vector<redlock_member> nodes{};
};

[[nodiscard]] redlock_change_options default_change_options() {
  const admin::ChangeOptions from;
  redlock_change_options options{};
  options.size = sizeof(options);
  options.patience_ns = to_ns(from.patience);
  options.after_loss = from.after_loss;
  return options;
}
static_assert(offsetof(redlock_change_options, context) + sizeof(void*) ==
              sizeof(redlock_change_options));

/// NULL: the defaults.
[[nodiscard]] admin::ChangeOptions change_options_from(const redlock_change_options* options) {
  admin::ChangeOptions to;
  if (options == nullptr) return to;
  const redlock_change_options read = read_sized(*options, default_change_options(), "change");
  to.patience = from_ns(read.patience_ns);
  to.after_loss = read.after_loss;
  to.stop = stop_token_from(read.stop);
  if (read.on_progress != nullptr) {
    to.on_progress = [call = read.on_progress,
                      context = read.context](const admin::ChangeProgress& progress) noexcept {
      const bool waits = progress.kind == admin::ChangeProgress::Kind::waiting;
      const redlock_change_progress seen{waits ? "waiting" : "writing", progress.node.c_str(),
                                         progress.what.c_str(),
                                         progress.left ? to_ns(*progress.left) : -1};
      call(context, &seen);
    };
  }
  return to;
}

/// Makes a call that asks the nodes of the options, and makes one object of its answer.
template <typename Made, typename Out, typename Call>
redlock_status ask(const redlock_client_options* options, Out** out, redlock_error** error,
                   Call&& call) noexcept {
  clear(out);
  return guarded(error, [&] {
    const auto read = client_options_from(options);
    auto*& place = required_out(out, "the result");
    place = new_object<Made>(unwrapped(call(read)));
  });
}

}  // namespace
}  // namespace redlock::bindings

REDLOCK_PART(redlock_deployment_check_node, redlock_deployment_check, HeldCheck, nodes)
REDLOCK_PART(redlock_deployment_check_finding, redlock_deployment_check, HeldCheck, findings)

void redlock_deployment_check_free(redlock_deployment_check* check) {
  bound::dispose<bound::HeldCheck>(check);
}

redlock_status redlock_check(const redlock_client_options* options,
                             redlock_deployment_check** check, redlock_error** error) {
  return bound::ask<bound::HeldCheck>(options, check, error,
                                      [](const auto& read) { return redlock::admin::check(read); });
}

void redlock_change_options_init(redlock_change_options* options, size_t size) {
  bound::write_sized(options, size, bound::default_change_options());
}

redlock_status redlock_bootstrap(const redlock_client_options* options,
                                 const redlock_change_options* change,
                                 redlock_deployment_check** check, redlock_error** error) {
  return bound::ask<bound::HeldCheck>(options, check, error, [&](const auto& read) {
    return redlock::admin::bootstrap(read, bound::change_options_from(change));
  });
}

REDLOCK_PART(redlock_membership_node, redlock_membership, Membered, nodes)

void redlock_membership_free(redlock_membership* membership) {
  bound::dispose<bound::Membered>(membership);
}

redlock_status redlock_members(const redlock_client_options* options,
                               redlock_membership** membership, redlock_error** error) {
  return bound::ask<bound::Membered>(
      options, membership, error, [](const auto& read) { return redlock::admin::members(read); });
}

redlock_status redlock_replace_member(const redlock_client_options* options, const char* leaving,
                                      const char* entering, const redlock_change_options* change,
                                      redlock_membership** membership, redlock_error** error) {
  return bound::ask<bound::Membered>(options, membership, error, [&](const auto& read) {
    return redlock::admin::replace_member(read, bound::required_text(leaving, "leaving"),
                                          bound::required_text(entering, "entering"),
                                          bound::change_options_from(change));
  });
}

redlock_status redlock_add_member(const redlock_client_options* options, const char* entering,
                                  const redlock_change_options* change,
                                  redlock_membership** membership, redlock_error** error) {
  return bound::ask<bound::Membered>(options, membership, error, [&](const auto& read) {
    return redlock::admin::add_member(read, bound::required_text(entering, "entering"),
                                      bound::change_options_from(change));
  });
}

redlock_status redlock_remove_member(const redlock_client_options* options, const char* leaving,
                                     const redlock_change_options* change,
                                     redlock_membership** membership, redlock_error** error) {
  return bound::ask<bound::Membered>(options, membership, error, [&](const auto& read) {
    return redlock::admin::remove_member(read, bound::required_text(leaving, "leaving"),
                                         bound::change_options_from(change));
  });
}
