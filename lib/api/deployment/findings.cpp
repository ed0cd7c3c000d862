#include "api/deployment/findings.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "api/deployment/finding_kinds.hpp"
#include "api/deployment/member_findings.hpp"
#include "api/deployment/member_run.hpp"
#include "api/deployment/reign_findings.hpp"
#include "core/membership/reign.hpp"
#include "core/vocabulary/durations.hpp"
#include "core/votes/fencing.hpp"
#include "core/votes/quorum.hpp"
#include "support/counted.hpp"

namespace redlock::api {
namespace {

using runtime::SurveyedNode;
using std::chrono::nanoseconds;

class Findings {
 public:
  Findings(const ClientOptions& options, const std::vector<SurveyedNode>& nodes) noexcept
      : options_(options),
        remembered_(std::any_of(nodes.begin(), nodes.end(), [](const SurveyedNode& node) {
          return node.marker && node.marker->state != core::Marker::State::blank;
        })) {}

  void judge(const SurveyedNode& node);
  void judge_duplicates(const std::vector<SurveyedNode>& nodes);
  [[nodiscard]] std::vector<admin::Finding> take() noexcept { return std::move(findings_); }

 private:
  void judge_access(const SurveyedNode& node);
  void judge_kind(const SurveyedNode& node);
  void judge_scripts(const SurveyedNode& node);
  void judge_settings(const SurveyedNode& node);
  void judge_migration(const SurveyedNode& node);
  void judge_writes(const SurveyedNode& node);
  void judge_memory(const SurveyedNode& node);
  void judge_marker(const SurveyedNode& node);
  void judge_tracking(const SurveyedNode& node);
  void judge_commands(const SurveyedNode& node);
  void judge_clients(const SurveyedNode& node);
  void judge_clock(const SurveyedNode& node);
  void judge_fencing(const SurveyedNode& node);
  void judge_replicas(const SurveyedNode& node);
  void judge_membership(const SurveyedNode& node);
  void judge_quarantine(const SurveyedNode& node);
  void add(const SurveyedNode& node, admin::Finding::Kind kind, std::string what, std::string why,
           std::string remedy) {
    findings_.push_back({node.seen.url, kind, std::move(what), std::move(why), std::move(remedy)});
  }

  const ClientOptions& options_;
  /// A node remembers a deployment: `bootstrap` takes no other node for a new one.
  const bool remembered_;
  std::vector<admin::Finding> findings_;
};

/// Each node's offset from the median: most clocks are right, and nobody knows whether ours is.
void compare_clocks(std::vector<SurveyedNode>& nodes) {
  std::vector<nanoseconds> clocks;
  for (const SurveyedNode& node : nodes) {
    if (node.clock) clocks.push_back(*node.clock);
  }
  if (clocks.empty()) return;
  std::sort(clocks.begin(), clocks.end());
  const nanoseconds low = clocks[(clocks.size() - 1) / 2];
  const nanoseconds high = clocks[clocks.size() / 2];
  const nanoseconds median = low + (high - low) / 2;
  for (SurveyedNode& node : nodes) {
    if (node.clock) node.seen.clock_offset = *node.clock - median;
  }
}

bool is_replicated(const SurveyedNode& node) { return core::servers_of(node.seen.url) > 1; }

bool too_old(const std::string& version) {
  constexpr int oldest_major = 6;
  int major = 0;
  const auto parsed = std::from_chars(version.data(), version.data() + version.size(), major);
  return parsed.ec == std::errc{} && major < oldest_major;
}

/// "Valkey 7.2.4"
std::string server_text(const admin::NodeCheck& seen) {
  const bool known = !seen.server.empty();
  return known ? seen.server + ' ' + seen.server_version : "Redis " + seen.version;
}

/// With a full stop.
std::string ended(std::string text) {
  if (!text.ends_with('.')) text += '.';
  return text;
}

void Findings::judge(const SurveyedNode& node) {
  judge_access(node);
  const bool answered = !node.seen.run_id.empty() || node.seen.loading;
  if (!node.seen.reachable || !answered) return;
  if (node.seen.role == admin::NodeCheck::Role::sentinel) {
    add(node, admin::Finding::Kind::sentinel, "This is a sentinel, not a data server.",
        "It stores no keys, so it cannot vote.",
        "Name the master that it watches instead; its address is often the same with another "
        "port.");
    return;
  }
  judge_kind(node);
  judge_scripts(node);
  judge_settings(node);
  judge_migration(node);
  judge_tracking(node);
  judge_commands(node);
  judge_clients(node);
  judge_clock(node);
  // A replica reports its master's values, and a loading server reports none.
  if (node.seen.role == admin::NodeCheck::Role::replica || node.seen.loading) return;
  // A cluster that is not complete refuses everything.
  if (!node.unnamed_cluster) {
    judge_writes(node);
    judge_memory(node);
    judge_marker(node);
  }
  judge_fencing(node);
  judge_membership(node);
  judge_quarantine(node);
}

std::string how_to_reach(const admin::NodeCheck& seen) {
  struct Row {
    std::string_view problem;
    const char* remedy;
  };
  constexpr Row rows[] = {
      {"no sentinel names the primary",
       "Check the addresses of the sentinels, the name that they have for the service, and their "
       "login: sentinel_user and sentinel_password, in its URL."},
      {"max number of clients",
       "It admits nobody, not even you: see on its machine who is connected (ss -tnp), and end the "
       "program that opens so many connections. Then raise maxclients (CONFIG SET, and in its "
       "configuration file) if that was too low."},
      {"protected mode",
       "Give the server a password (requirepass, or ACL SETUSER), and clients too. Or bind it to "
       "an address that only they reach, with protected-mode no."},
      {"BUSY ",
       "A script on it does not end: SCRIPT KILL ends one that has written nothing. Find "
       "out who runs it."},
      {"cannot resolve host name",
       "Check the host name in its URL, and that this machine's resolver knows it."},
      {"its primary, ",
       "If a failover is under way, wait for it. Otherwise see that this server runs and can be "
       "reached, and why the sentinels name it as the primary: SENTINEL MASTERS, and their logs."},
  };
  for (const Row& row : rows) {
    if (seen.problem.find(row.problem) != std::string::npos) return row.remedy;
  }
  return seen.url.starts_with("unix:")
             ? "Check that the server runs, that path and database of its URL are right, and that "
               "this user may open the socket."
             : "Check that the server runs, that host, port and database of its URL are right, and "
               "that no firewall is in between.";
}

void Findings::judge_access(const SurveyedNode& node) {
  if (!node.denied.empty()) {
    add(node, admin::Finding::Kind::auth,
        "The server rejected our login or denied a required command: " + ended(node.denied),
        "Clients with these credentials get no vote from it.",
        node.denied.starts_with("NOPERM")
            ? "Give the user all rights of Permissions in REFERENCE.md, with ACL SETUSER: the "
              "server names only the first one that is missing. Or use another user."
            : std::string("Check the user and the password of this node: in its URL, or with "
                          "--password-file.") +
                  (is_replicated(node) ? " Each server of the service needs them: a replica does "
                                         "not copy users."
                                       : ""));
  } else if (!node.seen.reachable) {
    add(node, admin::Finding::Kind::unreachable, "It cannot be asked: " + ended(node.seen.problem),
        "It has no vote. Locks work as long as a majority of the nodes answers; every missing node "
        "reduces the failures you can tolerate.",
        how_to_reach(node.seen));
  }
}

void Findings::judge_kind(const SurveyedNode& node) {
  const admin::NodeCheck& seen = node.seen;
  if (seen.role == admin::NodeCheck::Role::replica && is_replicated(node)) {
    add(node, admin::Finding::Kind::replica, "Its name leads to a replica.",
        "A failover is under way, or the name does not follow the primary. It has no vote.",
        "Wait for the failover. If it stays so, see which server the name or the sentinels name.");
  } else if (seen.role == admin::NodeCheck::Role::replica) {
    add(node, admin::Finding::Kind::replica, "This server is a replica of another one.",
        "It copies its master late and cannot vote: the two are one node.",
        "Name the master instead, or make it a master of its own with REPLICAOF NO ONE.");
  }
  if (node.unnamed_cluster) {
    add(node, admin::Finding::Kind::cluster, "This server is part of a Redis Cluster.",
        "A cluster moves keys between servers and replaces masters by replicas that lag, so a vote "
        "can be forgotten.",
        "Name the cluster: 'redis+cluster://HOST;HOST/?servers=N'. Or use an independent server "
        "that was started with cluster-enabled no.");
  }
  if (seen.loading) {
    add(node, admin::Finding::Kind::loading, "The server is still reading its data from disk.",
        "It has no vote until that is done.",
        "Wait, then run the check again. If it takes long, read the server's log.");
  }
  if (too_old(seen.version)) {
    add(node, admin::Finding::Kind::old_version,
        "The server is " + server_text(seen) + "; Redis 6.0 is the oldest one that is supported.",
        "An older server cannot tell clients that it lost its data, and no test runs on it.",
        "Upgrade the server.");
  }
}

void Findings::judge_scripts(const SurveyedNode& node) {
  // A user who may not run scripts is denied something: see judge_access().
  if (node.runs_scripts || node.can_compare || !node.denied.empty()) return;
  add(node, admin::Finding::Kind::no_scripts,
      "The server does not know EVAL (its configuration renames it), and has neither DELIFEQ nor "
      "DELEX.",
      "No client could release a lock there, so it has no vote. bootstrap and members need EVAL, "
      "too.",
      "Take the rename-command of EVAL, EVALSHA and SCRIPT out of its configuration and restart "
      "it. To keep users from running scripts, use ACLs.");
}

void Findings::judge_settings(const SurveyedNode& node) {
  const admin::NodeCheck& seen = node.seen;
  if (!seen.maxmemory_policy.empty() && seen.maxmemory_policy != "noeviction") {
    add(node, admin::Finding::Kind::evicting,
        "The server throws keys away when memory is short (maxmemory-policy " +
            seen.maxmemory_policy + ").",
        "It may evict a held lock, and then grant it to another client.",
        "CONFIG SET maxmemory-policy noeviction, and the same in its configuration file.");
  }
  const bool guarded = options_.guards.restart && !options_.guards.trust_durable;
  // A replicated node never counts as durable, whoever trusts it.
  if (!guarded && !seen.durable && !is_replicated(node)) {
    add(node, admin::Finding::Kind::not_durable,
        "The server answers before its data is on disk (persistence: " +
            std::string(to_string(seen.persistence)) + ").",
        options_.guards.restart
            ? "--durable expects it to keep its vote over a restart, but it is not durable: each "
              "restart puts it into quarantine."
            : "The restart guard is off: a restart can make it forget a held lock.",
        options_.guards.restart ? "Set appendonly yes and appendfsync always; or do not trust "
                                  "nodes to be durable (--durable)."
                                : "Turn the restart guard on (--restart-guard), or set appendonly "
                                  "yes and appendfsync always.");
  }
}

void Findings::judge_migration(const SurveyedNode& node) {
  if (!node.migrates_replicas || !is_replicated(node)) return;
  add(node, admin::Finding::Kind::replica_migration,
      "Its cluster may move a replica from one primary to another (cluster-allow-replica-migration "
      "yes).",
      "A server that comes from another shard makes more servers than the URL says: two primaries "
      "could each have a majority, and two clients one lock.",
      "CONFIG SET cluster-allow-replica-migration no on every server of the cluster, and the same "
      "in its configuration file.");
}

void Findings::judge_writes(const SurveyedNode& node) {
  if (node.refuses_writes.empty()) return;
  if (is_replicated(node) && node.refuses_writes.starts_with("NOREPLICAS")) {
    return add(node, admin::Finding::Kind::refuses_writes,
               "It refuses every write: " + ended(node.refuses_writes),
               "It gives no vote, and clients can neither renew nor release there.",
               "Bring its replicas back, or lower min-replicas-to-write: a vote does not need it.");
  }
  struct Row {
    std::string_view error;
    const char* remedy;
  };
  constexpr Row rows[] = {
      {"OOM",
       "Find out what fills its memory, and raise maxmemory (CONFIG SET maxmemory, and the "
       "same in its configuration file)."},
      {"NOREPLICAS",
       "CONFIG SET min-replicas-to-write 0, and the same in its configuration file: "
       "no node needs replicas."},
      {"MISCONF",
       "It cannot save its data to disk: see its log. Mend that, or CONFIG SET "
       "stop-writes-on-bgsave-error no."},
  };
  const auto* const row = std::find_if(std::begin(rows), std::end(rows), [&](const Row& each) {
    return node.refuses_writes.starts_with(each.error);
  });
  add(node, admin::Finding::Kind::refuses_writes,
      "It refuses every write: " + ended(node.refuses_writes),
      "It gives no vote, and clients can neither renew nor release there.",
      row == std::end(rows) ? "Mend what the server names." : row->remedy);
}

void Findings::judge_memory(const SurveyedNode& node) {
  const std::uint64_t most = node.seen.max_memory.value_or(0);
  const std::uint64_t used = node.seen.used_memory.value_or(0);
  if (most == 0 || used <= most / 10 * 9 || !node.refuses_writes.empty()) return;
  add(node, admin::Finding::Kind::short_memory,
      "It uses " + std::to_string(used / ((most + 99) / 100)) + " % of its maxmemory.",
      "When that is full, it refuses every write, and gives no vote.",
      "Find out what fills its memory, or raise maxmemory (CONFIG SET maxmemory, and the same in "
      "its configuration file).");
}

void Findings::judge_marker(const SurveyedNode& node) {
  if (node.marker_problem.empty() || !options_.guards.restart) return;
  add(node, admin::Finding::Kind::unreadable_marker,
      "Its key redlock:node:marker cannot be read: " + ended(node.marker_problem),
      "Clients do not know which deployment it belongs to, so it has no vote. Somebody has written "
      "the key.",
      "Find out who can write to this node. Then delete the key, and run the check again: the "
      "other "
      "members take the node back, or a finding says why not.");
}

void Findings::judge_tracking(const SurveyedNode& node) {
  // A third of the default limit, above which a server forgets entries and notifies clients of keys
  // that have not changed.
  constexpr std::uint64_t many = 300'000;
  if (node.tracked < many) return;
  add(node, admin::Finding::Kind::tracking_table,
      "Its table of tracked keys has " + std::to_string(node.tracked) + " entries.",
      "The server keeps an entry for each client and key until the key changes, also of clients "
      "that are long gone. A full table costs memory, and the server notifies watchers of changes "
      "that did not happen. Clients of quorum-lock add entries only for keys that they watch.",
      "Find the program that has keys tracked (CLIENT LIST: flag t), and have it track by prefix "
      "(BCAST) or not at all. A restart of the server empties the table.");
}

/// When CONFIG RESETSTAT hides no eviction.
std::string when_to_reset(const SurveyedNode& node) {
  if (!node.memory.keeps_keys) {
    return "do not run it before the server's maxmemory-policy has been noeviction for max TTL.";
  }
  const std::uint64_t evicted = core::evictions_in(node.memory.history);
  if (evicted == 0) {
    return "run it only if the server's maxmemory-policy has been noeviction for max TTL.";
  }
  return "the server has evicted " + std::to_string(evicted) +
         " keys. Run it only if the last of them was evicted, and its maxmemory-policy became "
         "noeviction, longer than max TTL ago.";
}

void Findings::judge_commands(const SurveyedNode& node) {
  if (node.forgetting.empty()) return;
  add(node, admin::Finding::Kind::forgetting_commands,
      "Somebody has run commands that can make it forget: " + node.forgetting + ".",
      "FLUSHALL and FLUSHDB delete locks that are held, SWAPDB puts the data of another database "
      "in "
      "their place, and DEBUG can do either. Clients notice that the marker is gone. If data come "
      "back as they once were, nobody notices.",
      "Find out who does it, and take these commands from that user with ACL SETUSER, or from all "
      "with rename-command. This finding ends when the server restarts" +
          (is_replicated(node)
               ? std::string(". Do not run CONFIG RESETSTAT: it ends the reign of the primary.")
               : ", or after CONFIG RESETSTAT. RESETSTAT also resets the number of evicted keys, "
                 "by "
                 "which clients notice that a lock was evicted: " +
                     when_to_reset(node)));
}

void Findings::judge_clients(const SurveyedNode& node) {
  // Nine tenths, because clients that connect again after an outage come all at once.
  if (node.most_clients == 0 || node.clients * 10 < node.most_clients * 9) return;
  add(node, admin::Finding::Kind::client_limit,
      "It has " + support::counted(node.clients, "client") + ", and admits " +
          std::to_string(node.most_clients) + " (maxclients).",
      "It refuses the clients above that: they get no vote from it, and cannot renew or release "
      "there.",
      "Find the program that opens so many connections (CLIENT LIST). Or CONFIG SET maxclients to "
      "a "
      "higher number, in its configuration file as well, and let its process open as many files.");
}

void Findings::judge_clock(const SurveyedNode& node) {
  if (!node.seen.clock_offset) return;
  const nanoseconds offset = *node.seen.clock_offset;
  const nanoseconds distance = offset < nanoseconds::zero() ? -offset : offset;
  // The offset itself may be wrong by half of the round trip.
  if (distance - node.seen.round_trip / 2 <= options_.guards.clock_bound) return;
  add(node, admin::Finding::Kind::clock,
      "Its clock is " + core::format_duration(distance) +
          (offset > nanoseconds::zero() ? " ahead of" : " behind") +
          " the median of all nodes' clocks; " +
          core::format_duration(options_.guards.clock_bound) + " is allowed.",
      "Locks end by the servers' clocks. When this clock is set right, locks end early or late.",
      "Run a time service (chrony, ntpd) on its machine, one that slews and does not step.");
}

void Findings::judge_fencing(const SurveyedNode& node) {
  if (!node.fencing_ahead || !node.seen.clock_offset) return;
  const nanoseconds ahead = *node.fencing_ahead + *node.seen.clock_offset;
  if (ahead <= core::fence_reach) return;
  const auto hours = std::chrono::floor<std::chrono::hours>(ahead).count();
  add(node, admin::Finding::Kind::fencing_floor,
      "It acknowledges no fencing token below a floor that is " + std::to_string(hours) +
          " hours ahead of the nodes' clocks: its clock is, or once was, that far ahead.",
      "The other nodes refuse so large a number. Fencing and elections work while a quorum of "
      "other nodes is up; without it they fail, or jump to this node's numbers.",
      "Set its clock right. If no lease ever got so large a fencing token (quorum-lock inspect "
      "shows the numbers), delete its keys redlock:node:numbers and redlock:node:marker: it begins "
      "anew, after a quarantine. Otherwise wait until the clocks have caught up.");
}

void Findings::judge_replicas(const SurveyedNode& node) {
  const std::size_t servers = core::servers_of(node.seen.url);
  const std::size_t there = node.seen.replicas;
  const std::string attached =
      std::to_string(there) + (there == 1 ? " replica is" : " replicas are") + " attached to it.";
  if (servers == 1 && there > 0) {
    add(node, admin::Finding::Kind::replicas, attached,
        "A replica that is promoted, and hands the role back later, has forgotten votes. Clients "
        "notice that only if their user may run HELLO and CLIENT TRACKING.",
        "If it is a primary that may fail over, say how many servers it is: ?servers=" +
            std::to_string(there + 1) + " after its URL. Otherwise detach the replicas.");
  }
  if (servers == 1) return;
  if (auto reign = judge_reign(node)) return findings_.push_back(*std::move(reign));
  if (there + 1 >= servers) return;
  const std::size_t spare = there - std::min(there, servers / 2);
  add(node, admin::Finding::Kind::replicas,
      attached + " Its URL says that it has " + std::to_string(servers) + " servers.",
      "It gives a vote only while " + std::to_string(servers / 2 + 1) +
          " of them are up to date, the primary included: " +
          (spare == 0 ? std::string("no other one may fail.")
                      : "only " + std::to_string(spare) + " more may fail."),
      bring_others_back(node));
}

void Findings::judge_membership(const SurveyedNode& node) {
  judge_replicas(node);
  if (!node.marker) return;
  const std::string& self = node.marker->self;
  if (!self.empty() && core::servers_of(self) != core::servers_of(node.seen.url)) {
    add(node, admin::Finding::Kind::membership,
        "Its deployment knows it as " + self + ", with another number of servers.",
        "Clients that disagree about that get no vote from it: each could find a majority.",
        "Give all clients the URL of the deployment. To change the number, stop all clients, and "
        "run quorum-lock bootstrap with the new one.");
  }
  const auto max_ttl = std::chrono::ceil<std::chrono::milliseconds>(options_.max_ttl);
  if (node.marker->max_ttl == max_ttl) return;
  add(node, admin::Finding::Kind::membership,
      "Its deployment has a max TTL of " + core::format_duration(node.marker->max_ttl) + ", but " +
          core::format_duration(max_ttl) + " is configured here.",
      "With different max TTLs, a node's quarantine may be too short, so that a client gets no "
      "vote from it.",
      "Give every client the same max TTL. To change it, stop all clients, wait until no lock is "
      "left, and run quorum-lock bootstrap.");
}

/// Whether the restart costs the node its vote, once a client has met it.
bool restart_counts(const SurveyedNode& node, const ClientOptions& options) {
  const bool trusted = options.guards.trust_durable && node.seen.durable;
  return node.seen.restarted && options.guards.restart && !trusted;
}

/// The cause of the quarantine, for people: of the word that guard.lua or reign.lua stores.
std::string cause_of(const SurveyedNode& node) {
  const std::string& why = node.quarantine_why;
  if (why == "restarted") return "It restarted, and may have lost its data.";
  if (why == "evicted") return "It evicted keys because its memory was full.";
  if (why == "role") {
    return "Its replication id changed: it was a replica for a while, took over from its master, "
           "or, before Redis 7.0, was copied by a replica or a backup (redis-cli --rdb). It cannot "
           "tell which.";
  }
  if (why == "reign") {
    return "Its primary is new: " + primary_of(node) +
           " does not know the locks of the one before.";
  }
  if (why == "first") return "Its servers are new, or have lost their data.";
  if (why == "broken") {
    return "Too few of its servers followed its primary for a while: another one may have been the "
           "primary.";
  }
  return "It came without its data, or is new, or an operator opened the deployment again.";
}

void Findings::judge_quarantine(const SurveyedNode& node) {
  const nanoseconds left = node.seen.quarantine;
  if (!options_.guards.restart) return;
  if (left == nanoseconds::zero()) {
    // Of a new primary, judge_reign() says that.
    if (!restart_counts(node, options_) || is_replicated(node)) return;
    findings_.push_back(not_met_since(node.seen.url, "It restarted"));
    return;
  }
  const bool endless = left == forever;
  const bool may_be_new = node.quarantine_why == core::opened_as_new ||
                          (!remembered_ && node.quarantine_why == core::met_unmarked);
  const bool can_bootstrap = may_be_new && node.runs_scripts;
  add(node, admin::Finding::Kind::quarantined,
      endless ? "It is in quarantine, and the quarantine's end is missing."
              : "It is in quarantine for another " + core::format_duration(left) + ".",
      cause_of(node) +
          " A lock that it has forgotten may still be held, so it has no vote for new ones.",
      std::string(endless ? "Have the server delete the key redlock:node:quarantine once no lock "
                            "can still be held"
                          : "Wait: it ends by itself") +
          (can_bootstrap ? ". For a new deployment that nobody uses yet: quorum-lock bootstrap."
                         : "."));
}

void Findings::judge_duplicates(const std::vector<SurveyedNode>& nodes) {
  std::vector<std::string> reported;
  for (const SurveyedNode& node : nodes) {
    const std::string& run_id = node.seen.run_id;
    if (run_id.empty() || std::find(reported.begin(), reported.end(), run_id) != reported.end())
      continue;
    reported.push_back(run_id);
    std::string urls;
    std::size_t count = 0;
    for (const SurveyedNode& other : nodes) {
      if (other.seen.run_id != run_id) continue;
      urls += (urls.empty() ? "" : ", ") + other.seen.url;
      ++count;
    }
    if (count < 2) continue;
    findings_.push_back({urls, admin::Finding::Kind::duplicate,
                         "These are " + std::to_string(count) + " addresses of one server.",
                         "One server has one vote: when it fails, all of them fail at once.",
                         "Keep one of the addresses and name other servers in place of the rest."});
  }
}

}  // namespace

namespace {

using core::ObservedNode;

/// The deployment that clients count votes of, as Nodes::ballot does: that of most nodes.
std::optional<core::Deployment> deployment_of_most(const std::vector<ObservedNode>& nodes) {
  std::optional<core::Deployment> best;
  for (core::Deployment& each : core::deployments_of(core::with_member_names(nodes))) {
    if (!best || each.active.size() > best->active.size()) best = std::move(each);
  }
  return best && !best->active.empty() ? best : std::nullopt;
}

/// Drops what only follows from another finding about the same node: one finding for a cause.
void drop_consequences(std::vector<admin::Finding>& findings) {
  using Kind = admin::Finding::Kind;
  const auto has = [&](const std::string& url, Kind kind) {
    return std::any_of(findings.begin(), findings.end(), [&](const admin::Finding& other) {
      return other.kind == kind && other.node == url;
    });
  };
  const auto follows = [&](const admin::Finding& finding) {
    const bool of_marker = finding.kind == Kind::quarantined || finding.kind == Kind::membership;
    if (of_marker && has(finding.node, Kind::unreadable_marker)) return true;
    if (finding.kind != Kind::quarantined) return false;
    // A node that forgot does not vote when its quarantine ends, but when it is taken back; nor
    // does one whose reign does not stand.
    return has(finding.node, Kind::membership) || has(finding.node, Kind::reign);
  };
  std::vector<admin::Finding> kept;
  for (const admin::Finding& finding : findings) {
    if (!follows(finding)) kept.push_back(finding);
  }
  findings = std::move(kept);
}

/// Whether the node has a vote for new leases now.
bool has_vote(const admin::NodeCheck& node, const ObservedNode& observed,
              const std::optional<core::Deployment>& current,
              const std::vector<admin::Finding>& findings) {
  if (!node.reachable || node.run_id.empty()) return false;
  const auto costs_it = [&](const admin::Finding& finding) {
    return costs_vote_of(finding, node.url);
  };
  if (std::any_of(findings.begin(), findings.end(), costs_it)) return false;
  // Without the restart guard, nodes that belong to no deployment vote together.
  if (!current) return !observed.marker || observed.marker->deployment.empty();
  const auto& active = current->active;
  return std::find(active.begin(), active.end(), observed.name) != active.end();
}

}  // namespace

admin::DeploymentCheck judge(std::vector<SurveyedNode> nodes, const ClientOptions& options) {
  compare_clocks(nodes);
  Findings findings(options, nodes);
  for (SurveyedNode& node : nodes) {
    node.seen.reign = check_reign(node);
    findings.judge(node);
    node.seen.restarted = restart_counts(node, options);
  }
  findings.judge_duplicates(nodes);
  admin::DeploymentCheck check;
  check.findings = findings.take();
  const auto observed = observe(nodes, check);
  judge_members(observed, options, check.findings);
  drop_consequences(check.findings);
  check.granted_in = when_granted(observed, options);
  const std::vector<ObservedNode> named = core::with_member_names(observed);
  const admin::Membership membership = read_membership(named);
  const auto current = deployment_of_most(observed);
  const std::size_t listed = std::min(options.nodes.size(), nodes.size());
  check.members = current ? current->members.size() : listed;
  check.quorum = std::max(options.quorum.value_or(core::majority(listed)),
                          current ? core::majority(check.members) : 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    admin::NodeCheck& seen = nodes[i].seen;
    seen.membership = membership.nodes[i].state;
    seen.member = membership.nodes[i].member;
    const bool lost = seen.membership == admin::MemberReport::State::blank ||
                      seen.membership == admin::MemberReport::State::unmarked;
    seen.forgot = lost && current && current->has_member(named[i].name);
    seen.votes = has_vote(seen, named[i], current, check.findings);
    check.nodes.push_back(std::move(seen));
  }
  return check;
}

}  // namespace redlock::api
