#include "runtime/survey_facts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "core/membership/marker.hpp"
#include "core/votes/fencing.hpp"
#include "redis/values/keys.hpp"
#include "redis/values/score.hpp"
#include "redis/values/server_info.hpp"
#include "redis/values/visible.hpp"

namespace redlock::runtime {
namespace {

using redis::OwnedValue;
using redis::Value;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// The facts, in the order in which fact_questions() asks for them.
enum Fact : std::size_t {
  info,
  appendfsync,
  save,
  marker,
  quarantine,
  why,
  floor,
  script,
  delifeq,
  delex,
  commands,
  most_clients,
  written,
  deleted,
  migration,
  // Of a replicated node, in the order of a vote: see append_reading() in requests/reign.cpp.
  beat,
  reign,
  acknowledged,
  statistics,
  replication,
};

constexpr std::size_t longest_field = 64;

/// The value of `field` in an INFO, fit to be shown; empty if it is absent.
std::string field_of(std::string_view text, std::string_view field) {
  return redis::visible(redis::info_field(text, field), longest_field);
}

template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

/// The value that CONFIG GET answered; none if the server refuses it.
std::optional<std::string> setting_in(const OwnedValue& answer) {
  if (answer.type != Value::Type::array || answer.elements.size() != 2) return std::nullopt;
  return redis::visible(answer.elements[1].text, longest_field);
}

/// The number, cut to what 64-bit nanoseconds can hold: anybody can write a larger one.
milliseconds countable(std::int64_t number) {
  return std::min(milliseconds(number), milliseconds(2 * limits::longest_max_ttl));
}

/// A score in microseconds since 1970; 'inf' too, which is as far away as can be counted.
nanoseconds time_in(const std::string& score) {
  constexpr auto end = static_cast<double>(core::fence_limit);
  const auto number = redis::score_in(score);
  const double microseconds = number && *number < end ? *number : end;
  return std::chrono::microseconds(static_cast<std::int64_t>(std::max(microseconds, 0.0)));
}

admin::NodeCheck::Role role_in(std::string_view word) {
  if (word == "master") return admin::NodeCheck::Role::master;
  if (word == "slave") return admin::NodeCheck::Role::replica;
  return word == "sentinel" ? admin::NodeCheck::Role::sentinel : admin::NodeCheck::Role::unknown;
}

admin::NodeCheck::Persistence persistence_with(std::string_view fsync) {
  if (fsync == "always") return admin::NodeCheck::Persistence::aof_always;
  if (fsync == "everysec") return admin::NodeCheck::Persistence::aof_everysec;
  return fsync == "no" ? admin::NodeCheck::Persistence::aof_no : admin::NodeCheck::Persistence::aof;
}

void take_info(const std::string& text, admin::NodeCheck& seen) {
  const std::string_view mode = redis::server_mode(text);
  const redis::Product product = redis::product_in(text);
  seen.version = field_of(text, "redis_version");
  seen.server_version = redis::visible(product.version, longest_field);
  if (!seen.server_version.empty()) seen.server = product.name;
  // Sentinels of all versions say so in their mode, and only some in their role.
  seen.role = role_in(mode == "sentinel" ? mode : redis::info_field(text, "role"));
  seen.run_id = field_of(text, "run_id");
  if (const auto uptime = number_in<std::int32_t>(field_of(text, "uptime_in_seconds"))) {
    seen.uptime = std::chrono::seconds(*uptime);
  }
  seen.maxmemory_policy = field_of(text, "maxmemory_policy");
  seen.used_memory = number_in<std::uint64_t>(field_of(text, "used_memory"));
  seen.max_memory = number_in<std::uint64_t>(field_of(text, "maxmemory"));
  seen.replicas = number_in<std::size_t>(field_of(text, "connected_slaves")).value_or(0);
  seen.cluster = mode == "cluster" || field_of(text, "cluster_enabled") == "1";
  seen.loading = field_of(text, "loading") == "1" || field_of(text, "async_loading") == "1";
}

void take_persistence(const std::vector<OwnedValue>& answers, admin::NodeCheck& seen) {
  const std::string aof_enabled = field_of(answers[info].text, "aof_enabled");
  const auto fsync = setting_in(answers[appendfsync]);
  const auto snapshots = setting_in(answers[save]);
  if (aof_enabled == "1") {
    seen.persistence = persistence_with(fsync.value_or(std::string()));
    seen.durable = fsync == "always";
  } else if (snapshots) {
    seen.persistence = snapshots->empty() ? admin::NodeCheck::Persistence::none
                                          : admin::NodeCheck::Persistence::rdb;
  }
}

void take_errors(const std::vector<OwnedValue>& answers, SurveyedNode& node) {
  // No client needs the settings that the server refuses to show.
  for (const std::size_t fact : {marker, quarantine, written}) {
    const OwnedValue& answer = answers[fact];
    if (!answer.is_error()) continue;
    const bool loading = answer.text.starts_with("LOADING");
    if (loading) node.seen.loading = true;
    const bool denied = is_denial(answer.text);
    if (denied && node.denied.empty()) node.denied = answer.text;
    if (loading || denied) continue;
    if (fact == written) node.refuses_writes = answer.text;
    if (fact == marker) node.marker_problem = answer.text;
  }
}

/// The number of executed calls in a line of INFO commandstats: "calls=3,usec=9,…,failed_calls=1".
std::uint64_t calls_in(std::string_view line) {
  const auto count = [line](std::string_view name) -> std::uint64_t {
    const std::size_t at = line.find(name);
    if (at == std::string_view::npos) return 0;
    const std::string_view rest = line.substr(at + name.size());
    return number_in<std::uint64_t>(rest.substr(0, rest.find(','))).value_or(0);
  };
  const std::uint64_t failed = count(",failed_calls=");
  const std::uint64_t all = line.starts_with("calls=") ? count("calls=") : 0;
  return all > failed ? all - failed : 0;
}

/// "FLUSHALL (twice), SWAPDB (once)"; empty: none of them ran since the counts began.
std::string forgetting_in(std::string_view statistics) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> commands{{
      {"cmdstat_flushall", "FLUSHALL"},
      {"cmdstat_flushdb", "FLUSHDB"},
      {"cmdstat_swapdb", "SWAPDB"},
      {"cmdstat_debug", "DEBUG"},
  }};
  std::string ran;
  for (const auto& [field, command] : commands) {
    const std::uint64_t calls = calls_in(redis::info_field(statistics, field));
    if (calls == 0) continue;
    ran += (ran.empty() ? "" : ", ") + std::string(command) + " (" + std::to_string(calls) +
           (calls == 1 ? " time)" : " times)");
  }
  return ran;
}

/// Whether the server answered the keys of a call, and so knows the command.
bool knows_command(const OwnedValue& answer) {
  return answer.type == Value::Type::array && !answer.elements.empty();
}

void take_abilities(const std::vector<OwnedValue>& answers, SurveyedNode& node) {
  const std::string& refusal = answers[script].text;
  const bool forbidden = refusal.starts_with("NOPERM");
  node.can_compare = knows_command(answers[delifeq]) || knows_command(answers[delex]);
  node.runs_scripts =
      !answers[script].is_error() || !(forbidden || refusal.starts_with("ERR unknown command"));
  if (forbidden && !node.can_compare && node.denied.empty()) node.denied = refusal;
}

constexpr std::string_view asks_for_offset = "*3\r\n$8\r\nREPLCONF\r\n$6\r\nGETACK\r\n$1\r\n*\r\n";

/// The commands of a vote that nothing else needs, for people.
constexpr std::array<std::pair<Fact, std::string_view>, 5> reign_commands{{
    {beat, "SET redlock:node:beat"},
    {reign, "GET redlock:node:reign"},
    {acknowledged, "WAIT"},
    {statistics, "INFO stats"},
    {replication, "INFO replication"},
}};

void take_servers(const std::string& info, const std::string& address, SurveyedReign& taken) {
  admin::ServerCheck primary;
  primary.address = address;
  primary.primary = true;
  primary.offset = redis::replication_offset(info);
  taken.seen.push_back(primary);
  for (const redis::AttachedReplica& replica : redis::attached_replicas(info)) {
    admin::ServerCheck& seen = taken.seen.emplace_back();
    seen.address = replica.address;
    seen.state = replica.state;
    seen.offset = replica.offset;
    seen.behind = primary.offset - std::min(primary.offset, replica.offset);
    // WAIT has just asked the replicas for their offsets, in the same stream.
    seen.behind -= std::min<std::uint64_t>(seen.behind, asks_for_offset.size());
    constexpr std::uint64_t longest = 1'000'000'000;
    if (replica.lag) seen.lag = std::chrono::seconds(std::min(*replica.lag, longest));
  }
}

void take_reign(const std::vector<OwnedValue>& answers, const std::string& address,
                SurveyedNode& node) {
  if (answers.size() <= replication || node.seen.role != admin::NodeCheck::Role::master) return;
  SurveyedReign& taken = node.reign.emplace();
  for (const auto& [fact, command] : reign_commands) {
    if (!answers[fact].is_error() || !taken.refused.empty()) continue;
    taken.refused = command;
    taken.error = answers[fact].text;
  }
  if (taken.refused.empty()) {
    const OwnedValue& count = answers[acknowledged];
    const bool counts = count.type == Value::Type::integer && count.integer >= 0;
    const auto attachments = redis::attachments(answers[statistics].text);
    if (!counts || !attachments) {
      taken.refused = counts ? "INFO stats" : "WAIT";
      taken.error = counts ? "no sync_full and sync_partial_ok in it" : "it answered no number";
      return;
    }
    taken.acknowledged = static_cast<std::uint64_t>(count.integer);
    taken.attachments = *attachments;
  }
  if (answers[reign].type == Value::Type::bulk) taken.record = answers[reign].text;
  taken.in_step = redis::replicas_in_step(answers[replication].text);
  take_servers(answers[replication].text, address, taken);
}

}  // namespace

redis::Questions fact_questions(std::size_t servers, milliseconds within) {
  redis::Questions questions;
  questions.add({"INFO"});
  questions.add({"CONFIG", "GET", "appendfsync"});
  questions.add({"CONFIG", "GET", "save"});
  questions.add({"GET", redis::keys::marker});
  questions.add({"PTTL", redis::keys::quarantine});
  questions.add({"GET", redis::keys::quarantine});
  questions.add({"ZSCORE", redis::keys::fencing_numbers, ""});
  questions.add({"EVAL", "return 1", "0"});
  // The commands that replace scripts; the handshake asks for them in the same way.
  questions.add({"COMMAND", "GETKEYS", "DELIFEQ", "key", "value"});
  questions.add({"COMMAND", "GETKEYS", "DELEX", "key"});
  questions.add({"INFO", "commandstats"});
  questions.add({"CONFIG", "GET", "maxclients"});
  // It expires if a user may not delete it.
  questions.add({"SET", redis::keys::check, "doctor", "PX", "1000"});
  questions.add({"DEL", redis::keys::check});
  questions.add({"CONFIG", "GET", "cluster-allow-replica-migration"});
  if (servers == 1) return questions;
  // WAIT counts the replicas that have this write. It leaves nothing.
  questions.add({"SET", redis::keys::beat, "1", "PX", "1000"});
  questions.add({"GET", redis::keys::reign});
  questions.add({"WAIT", std::to_string(servers - 1), std::to_string(within.count())});
  questions.add({"INFO", "stats"});
  questions.add({"INFO", "replication"});
  return questions;
}

bool is_denial(std::string_view error) noexcept {
  constexpr std::array<std::string_view, 3> kinds{"NOAUTH", "WRONGPASS", "NOPERM"};
  return std::any_of(kinds.begin(), kinds.end(),
                     [error](std::string_view kind) { return error.starts_with(kind); });
}

void take_facts(const std::vector<OwnedValue>& answers, const std::string& address,
                SurveyedNode& node) {
  admin::NodeCheck& seen = node.seen;
  const OwnedValue& reply = answers[info];
  if (reply.is_error() && is_denial(reply.text)) {
    seen.reachable = true;
    seen.problem = reply.text;
    node.denied = reply.text;
    return;
  }
  if (reply.is_error() && reply.text.starts_with("LOADING")) {
    seen.reachable = seen.loading = true;
    return;
  }
  if (reply.type != Value::Type::bulk) {
    seen.problem = reply.is_error() ? reply.text : "INFO was not answered with a text";
    return;
  }
  seen.reachable = true;
  take_info(reply.text, seen);
  node.tracked = number_in<std::uint64_t>(field_of(reply.text, "tracking_total_items")).value_or(0);
  node.memory = redis::memory_in(reply.text);
  if (answers[commands].type == Value::Type::bulk) {
    node.forgetting = forgetting_in(answers[commands].text);
  }
  node.clients = number_in<std::uint64_t>(field_of(reply.text, "connected_clients")).value_or(0);
  if (const auto most = setting_in(answers[most_clients])) {
    node.most_clients = number_in<std::uint64_t>(*most).value_or(0);
  }
  take_persistence(answers, seen);
  take_errors(answers, node);
  take_abilities(answers, node);
  node.migrates_replicas = seen.cluster && setting_in(answers[migration]) == "yes";
  take_reign(answers, address, node);

  if (answers[marker].type == Value::Type::bulk) {
    node.marker_text = answers[marker].text;
    node.marker = core::parse_marker(node.marker_text);
    if (!node.marker) node.marker_problem = "it is no membership record";
  }
  seen.marked = node.marker && !node.marker->deployment.empty();
  seen.restarted =
      node.marker && (node.marker->run_id != seen.run_id ||
                      core::forgets(core::change_of_memory(node.marker->replid, node.memory)));
  const OwnedValue& left = answers[quarantine];
  if (left.type == Value::Type::integer && left.integer == -1) seen.quarantine = forever;
  if (left.type == Value::Type::integer && left.integer > 0) {
    seen.quarantine = countable(left.integer);
  }
  if (answers[why].type == Value::Type::bulk) node.quarantine_why = answers[why].text;
  if (answers[floor].type == Value::Type::bulk) node.fencing_floor = time_in(answers[floor].text);
}

std::optional<nanoseconds> server_time(const OwnedValue& answer) {
  if (answer.type != Value::Type::array || answer.elements.size() != 2) return std::nullopt;
  const auto seconds = number_in<std::uint32_t>(answer.elements[0].text);
  const auto microseconds = number_in<std::uint32_t>(answer.elements[1].text);
  if (!seconds || !microseconds) return std::nullopt;
  return std::chrono::seconds(*seconds) + std::chrono::microseconds(*microseconds);
}

}  // namespace redlock::runtime
