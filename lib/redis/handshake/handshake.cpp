#include "redis/handshake/handshake.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string_view>

#include "core/membership/marker.hpp"
#include "core/membership/reign.hpp"
#include "redis/batches/encoder.hpp"
#include "redis/handshake/authentication.hpp"
#include "redis/handshake/capability_rows.hpp"
#include "redis/handshake/loaded_scripts.hpp"
#include "redis/handshake/login.hpp"
#include "redis/scripts_embedded.hpp"
#include "redis/values/classify.hpp"
#include "redis/values/keys.hpp"
#include "redis/values/server_info.hpp"
#include "redis/values/visible.hpp"
#include "redlock/limits.hpp"

namespace redlock::redis {
namespace {

/// Why a server cannot be one of N independent masters that keep what they are given; empty: it
/// can. A field that INFO lacks counts as healthy.
[[nodiscard]] std::string why_ineligible(std::string_view info, bool of_cluster) {
  constexpr std::size_t longest_word = 64;
  const std::string_view mode = server_mode(info);
  if (mode == "sentinel") return "it is a sentinel, which keeps no keys";
  const bool in_cluster = mode == "cluster" || info_field(info, "cluster_enabled") == "1";
  if (in_cluster && !of_cluster) {
    return "it is a server of a cluster, which may move a key to another server: such a node is "
           "named 'redis+cluster://HOST;HOST/?servers=N'";
  }
  if (info_field(info, "role") == "slave") {
    return "it is a replica of " + visible(info_field(info, "master_host"), longest_word) + ":" +
           visible(info_field(info, "master_port"), longest_word) + ", and no independent master";
  }
  const std::string_view policy = info_field(info, "maxmemory_policy");
  if (!policy.empty() && policy != "noeviction") {
    return "it may evict locks: maxmemory-policy is " + visible(policy, longest_word) +
           ", must be noeviction";
  }
  return {};
}

[[nodiscard]] std::string in_milliseconds(core::Duration duration) {
  return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(duration).count());
}

/// 0: there is no number.
[[nodiscard]] int major_of(std::string_view version) noexcept {
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return major;
}

[[nodiscard]] core::Capabilities given_by_version(std::string_view version) noexcept {
  const int major = major_of(version);
  core::Capabilities given;
  for (const VersionRow& row : version_rows) {
    if (row.since == 0 || major >= row.since) given = given.with(row.gives);
  }
  return given;
}

}  // namespace

Handshake::Handshake(const ConnectionTarget& target, std::string& out)
    : password_(target.password),
      of_cluster_(target.tag != nullptr),
      next_(target.guard ? Guard::decide : Guard::none),
      guard_(target.guard) {
  if (append_authentication(out, target)) expect(Step::authenticate);
  if (target.db != 0) {
    append_command(out, {"SELECT", std::to_string(target.db)});
    expect(Step::select);
  }
  append_command(out, {"CLIENT", "ID"});
  expect(Step::client_id);
  if (guard_) {
    append_command(out, {"HELLO", "3"});
    expect(Step::ignored);
    // OPTIN leaves out what votes read, NOLOOP what we write ourselves.
    append_command(out, {"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"});
    expect(Step::tracking);
  }
  append_command(out, {"INFO"});
  expect(Step::info);
  for (const CommandRow& row : command_rows) {
    append_command(out, row.question());
    expect(Step::knows_command);
  }
  append_command(out, {"CLIENT", "SETNAME", "redlock"});
  expect(Step::ignored);
  for (const scripts::Script& script : loaded_scripts) {
    // A server that refuses will answer NOSCRIPT later, and is then sent the text.
    append_command(out, {"SCRIPT", "LOAD", script.text});
    expect(Step::script);
  }
  if (guard_ && guard_->trust_durable) {
    append_command(out, {"CONFIG", "GET", "appendfsync"});
    expect(Step::fsync);
  }
  if (!guard_) {
    append_command(out, {"GET", keys::marker});
    expect(Step::marker);
    append_command(out, {"GET", keys::quarantine});
    expect(Step::quarantine_why);
    append_command(out, {"PTTL", keys::quarantine});
    expect(Step::quarantine);
  }
}

bool Handshake::durable() const noexcept {
  // Its replicas' data name the same node, and lack what was not copied yet.
  if (guard_->replicated) return false;
  return guard_->trust_durable && append_only_ && always_synced_;
}

void Handshake::ask(std::string& out) {
  expected_ = taken_ = 0;
  switch (next_) {
    case Guard::none:
      return;
    case Guard::decide:
      return run_guard(out);
    case Guard::read:
      return read_for_guard(out);
    case Guard::write:
      return write_for_guard(out);
  }
}

void Handshake::read_reign(std::string& out) {
  // Before the quarantine: a record that another client writes meanwhile comes with a new one.
  if (!guard_->replicated) return;
  append_command(out, {"GET", keys::reign});
  expect(Step::reign);
}

void Handshake::run_guard(std::string& out) {
  read_reign(out);
  const std::string longest = in_milliseconds(guard_->max_ttl);
  const std::string quarantine = in_milliseconds(guard_->quarantine);
  scripts::Call call = scripts::Guard{
      .marker = keys::marker,
      .quarantine = keys::quarantine,
      .numbers = keys::fencing_numbers,
      .run_id = identity_.run_id,
      .history = memory_.history,
      .origin = memory_.own_data ? "own" : "unknown",
      .policy = memory_.keeps_keys ? "keeps" : "unknown",
      .longest_ms = longest,
      .quarantine_ms = quarantine,
      .durability = durable() ? "durable" : "volatile",
      .name = core::is_member_name(guard_->name) ? std::string_view(guard_->name) : "-",
      .incarnation = guard_->incarnation,
      .mode = guard_->marks ? "mark" : "look"};
  append_command(out, call.words(core::ScriptForm::text));
  expect(Step::guard);
  next_ = Guard::none;
}

void Handshake::read_for_guard(std::string& out) {
  read_reign(out);
  append_command(out, {"WATCH", keys::marker, keys::quarantine, keys::fencing_numbers});
  expect(Step::watch);
  append_command(out, {"GET", keys::marker});
  expect(Step::read_marker);
  append_command(out, {"PTTL", keys::quarantine});
  expect(Step::read_quarantine);
  append_command(out, {"GET", keys::quarantine});
  expect(Step::read_why);
  append_command(out, {"ZSCORE", keys::fencing_numbers, ""});
  expect(Step::read_floor);
  append_command(out, {"TIME"});
  expect(Step::read_time);
  next_ = Guard::write;
}

void Handshake::write_for_guard(std::string& out) {
  const auto milliseconds = [](core::Duration duration) {
    return std::chrono::ceil<std::chrono::milliseconds>(duration);
  };
  const auto writes =
      core::guard_node(reading_, {.run_id = identity_.run_id,
                                  .memory = memory_,
                                  .max_ttl = milliseconds(guard_->max_ttl),
                                  .quarantine = milliseconds(guard_->quarantine),
                                  .durable = durable(),
                                  .name = core::is_member_name(guard_->name) ? guard_->name : "",
                                  .incarnation = guard_->incarnation});
  next_ = Guard::none;
  const std::int64_t left = reading_.quarantine ? reading_.quarantine->count() : 0;
  if (!writes || !guard_->marks) {
    take_marker_text(read_marker_);
    take_quarantine(left, read_why_);
    append_command(out, {"UNWATCH"});
    expect(Step::ignored);
    return;
  }
  const auto queue = [&](std::initializer_list<std::string_view> command) {
    append_command(out, command);
    expect(Step::ignored);
  };
  queue({"MULTI"});
  if (writes->quarantine) {
    queue({"SET", keys::quarantine, writes->why, "PX", in_milliseconds(*writes->quarantine)});
  }
  if (writes->floor) {
    queue({"ZADD", keys::fencing_numbers, std::to_string(*writes->floor), "", "inf",
           keys::longest_number_name});
  }
  queue({"SET", keys::marker, writes->marker});
  append_command(out, {"EXEC"});
  expect(Step::written);
  identity_.marker = writes->marker;
  take_quarantine(writes->quarantine ? writes->quarantine->count() : left,
                  writes->quarantine ? writes->why : std::string_view(read_why_));
}

std::string_view Handshake::name_of(Step step) noexcept {
  switch (step) {
    case Step::authenticate:
      return "AUTH";
    case Step::select:
      return "SELECT";
    case Step::client_id:
      return "CLIENT ID";
    case Step::info:
      return "INFO";
    default:
      return "restart guard";
  }
}

void Handshake::expect(Step step) { steps_.at(expected_++) = step; }

Handshake::Progress Handshake::take(const Value& answer) {
  const Step step = steps_.at(taken_);
  const bool is_error = answer.type == Value::Type::error;
  switch (step) {
    case Step::authenticate:
    case Step::select:
      if (is_error) return refuse(step, answer);
      if (answer.type != Value::Type::status) return malformed(step);
      return advance();
    case Step::client_id:
      if (is_error) return refuse(step, answer);
      if (answer.type != Value::Type::integer || answer.integer <= 0) return malformed(step);
      identity_.connection_id = answer.integer;
      return advance();
    case Step::tracking:
      tracks_ = answer.type == Value::Type::status;
      return advance();
    case Step::info:
      if (is_error) return refuse(step, answer);
      if (answer.type != Value::Type::bulk) return malformed(step);
      return take_info(answer.text);
    case Step::knows_command:
      take_keys(answer);
      return advance();
    case Step::script:
      if (is_error && answer.text.starts_with("NOPERM")) {
        withdraw(core::Capability::run_scripts);
      }
      return advance();
    case Step::ignored:
      return advance();
    case Step::fsync:
      // A server that refuses CONFIG GET does not count as durable.
      if (answer.type == Value::Type::array && answer.elements.size() == 2) {
        always_synced_ = answer.elements[1]->text == "always";
      }
      return advance();
    case Step::marker:
      return take_marker(answer);
    case Step::quarantine_why:
      // Without the guard, lost data do not matter, but an operator's change of the members does.
      joined_ = answer.type == Value::Type::bulk && answer.text == keys::quarantine_of_change;
      return advance();
    case Step::quarantine:
      if (joined_ && answer.type == Value::Type::integer && answer.integer != -2) {
        take_quarantine(answer.integer, keys::quarantine_of_change);
      }
      return advance();
    case Step::reign:
      identity_.reign = answer.type == Value::Type::bulk ? answer.text : std::string();
      return advance();
    default:
      return take_guard_step(step, answer);
  }
}

Handshake::Progress Handshake::take_guard_step(Step step, const Value& answer) {
  const bool is_error = answer.type == Value::Type::error;
  if (is_error && step == Step::guard) {
    // A server whose EVAL was renamed runs none either. Without a substitute for scripts, no lock
    // could be released there.
    const bool renamed = answer.text.starts_with("ERR unknown command");
    if (answer.text.starts_with("NOPERM") || (renamed && can(core::Capability::compare))) {
      withdraw(core::Capability::run_scripts);
      next_ = Guard::read;
      return advance();
    }
    static_cast<void>(refuse(step, answer));
    if (renamed) why_ += "; it has neither EVAL nor DELIFEQ or DELEX in its place";
    return Progress::refused;
  }
  if (is_error) return refuse(step, answer);
  switch (step) {
    case Step::guard:
      return take_guard(answer);
    case Step::watch:
      return advance();
    case Step::written:
      return take_written(answer);
    default:
      return take_reading(step, answer);
  }
}

Handshake::Progress Handshake::advance() noexcept {
  ++taken_;
  if (taken_ < expected_) return Progress::more;
  if (next_ == Guard::decide && !can(core::Capability::run_scripts)) next_ = Guard::read;
  const bool more = next_ != Guard::none && identity_.ineligible.empty();
  return more ? Progress::ask : Progress::done;
}

bool Handshake::can(core::Capability capability) const noexcept {
  return identity_.capabilities.has(capability);
}

void Handshake::withdraw(core::Capability capability) noexcept {
  identity_.capabilities = identity_.capabilities.without({capability});
}

void Handshake::take_keys(const Value& answer) {
  const CommandRow& row = command_rows.at(commands_taken_++);
  const bool knows = answer.type == Value::Type::array && !answer.elements.empty();
  if (!knows || (row.unless && can(*row.unless))) return;
  identity_.capabilities = identity_.capabilities.with(row.gives);
}

Handshake::Progress Handshake::take_reading(Step step, const Value& answer) {
  const bool is_text = answer.type == Value::Type::bulk;
  switch (step) {
    case Step::read_marker:
      read_marker_ = is_text ? answer.text : std::string();
      reading_ = {.marker = read_marker_};
      return advance();
    case Step::read_quarantine:
      if (answer.type != Value::Type::integer) return malformed(step);
      if (answer.integer != -2) reading_.quarantine = std::chrono::milliseconds(answer.integer);
      return advance();
    case Step::read_why:
      read_why_ = is_text ? answer.text : std::string();
      return advance();
    case Step::read_floor:
      if (is_text) reading_.floor = fencing_number_of(answer);
      return advance();
    default:
      break;
  }
  const auto time = time_of(answer);
  if (!time) return malformed(step);
  reading_.time = std::chrono::floor<std::chrono::microseconds>(*time);
  return advance();
}

Handshake::Progress Handshake::take_written(const Value& answer) {
  if (answer.type == Value::Type::array) {
    // A transaction goes on after a command that failed.
    const auto failed =
        std::find_if(answer.elements.begin(), answer.elements.end(),
                     [](const Value* done) { return done->type == Value::Type::error; });
    return failed == answer.elements.end() ? advance() : refuse(Step::written, **failed);
  }
  if (answer.type != Value::Type::nil) return malformed(Step::written);
  // Another client was faster: reads what that client wrote.
  constexpr int most_transactions = 8;
  if (++transactions_ == most_transactions) {
    why_ = "its membership record changed while it was read";
    return Progress::refused;
  }
  next_ = Guard::read;
  return advance();
}

Handshake::Progress Handshake::take_marker(const Value& answer) {
  // A server that does not let us read its marker counts as new, without a marker.
  if (answer.type == Value::Type::bulk && answer.text.size() <= core::marker_bytes) {
    identity_.marker = answer.text;
  }
  return advance();
}

Handshake::Progress Handshake::take_guard(const Value& answer) {
  if (answer.type != Value::Type::array || answer.elements.size() != 3) {
    return malformed(Step::guard);
  }
  const Value& marker = *answer.elements[0];
  const Value& left = *answer.elements[1];
  const Value& why = *answer.elements[2];
  const bool well_formed =
      marker.type == Value::Type::bulk && (!marker.text.empty() || !guard_->marks) &&
      left.type == Value::Type::integer && left.integer >= 0 && why.type == Value::Type::bulk;
  if (!well_formed) return malformed(Step::guard);
  take_marker_text(marker.text);
  take_quarantine(left.integer, why.text);
  return advance();
}

void Handshake::take_marker_text(const std::string& text) {
  identity_.marker = text;
  if (guard_->marks) return;
  const auto marker = core::parse_marker(text);
  if (!marker || marker->run_id != identity_.run_id) {
    identity_.unmarked = true;
    return;
  }
  const core::MemoryChange change = core::change_of_memory(marker->replid, memory_);
  identity_.unmarked = core::forgets(change);
  identity_.outdated = change == core::MemoryChange::counters_reset;
}

void Handshake::take_quarantine(std::int64_t left, std::string_view why) {
  // No quarantine of ours is longer, and a forged one must not overflow. A quarantine without an
  // end counts as the longest.
  constexpr std::int64_t longest = std::chrono::milliseconds(limits::longest_max_ttl).count() * 2;
  identity_.quarantine = std::chrono::milliseconds(left < 0 ? longest : std::min(left, longest));
  if (left == 0) return;
  const auto marker = core::parse_marker(identity_.marker);
  const bool member = marker && marker->state == core::Marker::State::active;
  std::string_view what =
      member && why == core::met_unmarked ? core::came_without_data : core::may_be_new;
  if (why == "restarted") what = "it restarted";
  if (why == "evicted") what = "it evicted keys";
  if (why == "reign") what = core::primary_is_new;
  if (why == "first") what = core::servers_are_new;
  if (why == "broken") what = "too few of its servers followed its primary for a while, and it";
  if (why == "role") {
    what =
        "it was a replica for a while, took over from its master, or, before Redis 7.0, a replica "
        "or a backup copied its data (redis-cli --rdb)";
  }
  if (why == "enrolled") what = "it became a member just now";
  if (why == keys::quarantine_of_change) {
    what = "it was marked anew when an operator opened its deployment or changed the members,";
  }
  identity_.quarantine_why = what;
  identity_.quarantine_why += core::may_have_forgotten;
}

Handshake::Progress Handshake::take_info(const std::string& text) {
  constexpr std::size_t longest_field = 64;
  identity_.run_id = visible(info_field(text, "run_id"), longest_field);
  identity_.version = visible(info_field(text, "redis_version"), longest_field);
  identity_.product = product_text(text);
  if (identity_.run_id.empty() || identity_.version.empty()) {
    why_ = "INFO: no run_id or no redis_version in it";
    return Progress::refused;
  }
  identity_.capabilities = given_by_version(identity_.version);
  identity_.ineligible = why_ineligible(text, of_cluster_);
  // Older ones take a new replication id when the first replica attaches.
  constexpr int first_of_replicated = 7;
  if (identity_.ineligible.empty() && guard_ && guard_->replicated &&
      major_of(identity_.version) < first_of_replicated) {
    identity_.ineligible =
        "a primary with replicas needs Redis 7.0 or later, and this is " + identity_.product;
  }
  if (!tracks_ || !identity_.ineligible.empty()) withdraw(core::Capability::track);
  // While a server reads its append-only file, it says aof_enabled:0. The guard asks a moment
  // later, when the file may be read, and would take a durable node for one that may have forgotten
  // something.
  if (identity_.ineligible.empty() && info_field(text, "loading") == "1") {
    why_ = "INFO: LOADING, it is still reading its data";
    return Progress::refused;
  }
  identity_.replica = info_field(text, "role") == "slave";
  append_only_ = info_field(text, "aof_enabled") == "1";
  identity_.evicted = evicted_keys(text);
  memory_ = memory_in(text);
  identity_.keeps_keys = memory_.keeps_keys;
  return advance();
}

Handshake::Progress Handshake::refuse(Step step, const Value& error) {
  why_ = std::string(name_of(step)) + ": ";
  why_ += without_secrets(error.text, password_);
  login_refused_ = is_login_refusal(error.text);
  return Progress::refused;
}

Handshake::Progress Handshake::malformed(Step step) {
  why_ = std::string(name_of(step)) + " was not answered as Redis answers it";
  return Progress::malformed;
}

}  // namespace redlock::redis
