#include "redis/handshake.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string_view>

#include "core/marker.hpp"
#include "redis/authentication.hpp"
#include "redis/encoder.hpp"
#include "redis/keys.hpp"
#include "redis/loaded_scripts.hpp"
#include "redis/scripts_embedded.hpp"
#include "redis/visible.hpp"
#include "redlock/limits.hpp"

namespace redlock::redis {
namespace {

/// What follows `field` on its line of an INFO; empty if there is none.
[[nodiscard]] std::string_view field_of(std::string_view info, std::string_view field) noexcept {
  while (!info.empty()) {
    const std::size_t end = info.find('\n');
    std::string_view line = info.substr(0, end);
    info.remove_prefix(end == std::string_view::npos ? info.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with(field)) return line.substr(field.size());
  }
  return {};
}

/// Why a server cannot be one of N independent masters that keep what they are given; empty where
/// it can. What it does not tell is taken to be well.
[[nodiscard]] std::string why_ineligible(std::string_view info) {
  constexpr std::size_t longest_word = 64;
  const std::string_view mode = field_of(info, "redis_mode:");
  if (mode == "sentinel") return "it is a sentinel, which keeps no keys";
  if (mode == "cluster" || field_of(info, "cluster_enabled:") == "1") {
    return "it is a node of a cluster, which may move a key to another server";
  }
  if (field_of(info, "role:") == "slave") {
    return "it is a replica of " + visible(field_of(info, "master_host:"), longest_word) + ":" +
           visible(field_of(info, "master_port:"), longest_word) + ", and no independent master";
  }
  const std::string_view policy = field_of(info, "maxmemory_policy:");
  if (!policy.empty() && policy != "noeviction") {
    return "it may evict locks: maxmemory-policy is " + visible(policy, longest_word) +
           ", must be noeviction";
  }
  return {};
}

[[nodiscard]] std::string in_milliseconds(core::Duration duration) {
  return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(duration).count());
}

/// SET … NX GET is an error before Redis 7.0.
[[nodiscard]] SetForm set_form_of(std::string_view version) noexcept {
  constexpr int first_with_get = 7;
  int major = 0;
  const auto parsed = std::from_chars(version.data(), version.data() + version.size(), major);
  return parsed.ec == std::errc{} && major >= first_with_get ? SetForm::with_get : SetForm::plain;
}

}  // namespace

Handshake::Handshake(const ConnectionTarget& target, std::string& out)
    : password_(target.password), guard_(target.guard) {
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
    // OPTIN: not what votes read. NOLOOP: not what we write ourselves.
    append_command(out, {"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"});
    expect(Step::tracking);
  }
  append_command(out, {"INFO"});
  expect(Step::info);
  append_command(out, {"CLIENT", "SETNAME", "redlock"});
  expect(Step::ignored);
  for (const scripts::Script& script : loaded_scripts) {
    // A server that refuses will answer NOSCRIPT later, and is then sent the text.
    append_command(out, {"SCRIPT", "LOAD", script.text});
    expect(Step::ignored);
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

void Handshake::ask(std::string& out) {
  const RestartGuard guard = *guard_;
  guard_.reset();
  const bool durable = guard.trust_durable && append_only_ && always_synced_;
  append_command(
      out, {"EVAL", scripts::guard.text, "3", keys::marker, keys::quarantine, keys::fencing_numbers,
            identity_.run_id, replid_, in_milliseconds(guard.max_ttl),
            in_milliseconds(guard.quarantine), durable ? "durable" : "volatile",
            core::is_member_name(guard.name) ? guard.name : "-", guard.incarnation});
  expect(Step::guard);
  // Redis 6.0 would tell us of our own scripts' writes too.
  if (!tracks_ || identity_.set_form != SetForm::with_get) return;
  append_command(out, {"CLIENT", "CACHING", "YES"});
  expect(Step::ignored);
  append_command(out, {"GET", keys::marker});
  expect(Step::marker_again);
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
    case Step::ignored:
      return advance();
    case Step::fsync:
      // A server that does not tell is not trusted; that is all.
      if (answer.type == Value::Type::array && answer.elements.size() == 2) {
        always_synced_ = answer.elements[1]->text == "always";
      }
      return advance();
    case Step::marker:
      return take_marker(answer);
    case Step::quarantine_why:
      // Without the guard, what nodes forgot is of no interest; what an operator changed is.
      joined_ = answer.type == Value::Type::bulk && answer.text == keys::quarantine_of_change;
      return advance();
    case Step::quarantine:
      if (joined_ && answer.type == Value::Type::integer && answer.integer != -2) {
        take_quarantine(answer.integer, keys::quarantine_of_change);
      }
      return advance();
    case Step::guard:
      if (is_error) return refuse(step, answer);
      return take_guard(answer);
    case Step::marker_again:
      if (is_error) return refuse(step, answer);
      return take_marker_again(answer);
  }
  return malformed(step);
}

Handshake::Progress Handshake::advance() noexcept {
  ++taken_;
  if (taken_ < expected_) return Progress::more;
  return guard_ && identity_.ineligible.empty() ? Progress::ask : Progress::done;
}

Handshake::Progress Handshake::take_marker(const Value& answer) {
  // A server that does not let us read it is taken to have none, as if it were new.
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
  const bool well_formed = marker.type == Value::Type::bulk && !marker.text.empty() &&
                           left.type == Value::Type::integer && left.integer >= 0 &&
                           why.type == Value::Type::bulk;
  if (!well_formed) return malformed(Step::guard);
  identity_.marker = marker.text;
  take_quarantine(left.integer, why.text);
  return advance();
}

void Handshake::take_quarantine(std::int64_t left, std::string_view why) {
  // No quarantine that we asked for is longer, and a forged one must not overflow. One without an
  // end is as long as any.
  constexpr std::int64_t longest = std::chrono::milliseconds(limits::longest_max_ttl).count() * 2;
  identity_.quarantine = std::chrono::milliseconds(left < 0 ? longest : std::min(left, longest));
  if (left == 0) return;
  std::string_view what = "it is new or has lost its data";
  if (why == "restarted") what = "it restarted";
  if (why == "role") what = "it was a replica for a while, or took over from its master";
  if (why == "enrolled") what = "it became a member just now";
  if (why == keys::quarantine_of_change) what = "an operator changed the members";
  identity_.quarantine_why = what;
  identity_.quarantine_why += " and may have forgotten leases that are still valid";
}

Handshake::Progress Handshake::take_marker_again(const Value& answer) {
  const bool same = answer.type == Value::Type::bulk && answer.text == identity_.marker;
  if (same) return advance();
  why_ = "its membership record changed while it was read";
  return Progress::refused;
}

Handshake::Progress Handshake::take_info(const std::string& text) {
  constexpr std::size_t longest_field = 64;
  identity_.run_id = visible(field_of(text, "run_id:"), longest_field);
  identity_.version = visible(field_of(text, "redis_version:"), longest_field);
  if (identity_.run_id.empty() || identity_.version.empty()) {
    why_ = "INFO: no run_id or no redis_version in it";
    return Progress::refused;
  }
  identity_.set_form = set_form_of(identity_.version);
  identity_.ineligible = why_ineligible(text);
  identity_.replica = field_of(text, "role:") == "slave";
  append_only_ = field_of(text, "aof_enabled:") == "1";
  replid_ = visible(field_of(text, "master_replid:"), longest_field);
  // Before Redis 4.0 there is none, and a change of role is not noticed.
  if (replid_.empty()) replid_ = identity_.run_id;
  return advance();
}

Handshake::Progress Handshake::refuse(Step step, const Value& error) {
  switch (step) {
    case Step::authenticate:
      why_ = "AUTH: ";
      break;
    case Step::select:
      why_ = "SELECT: ";
      break;
    case Step::client_id:
      why_ = "CLIENT ID: ";
      break;
    case Step::info:
    case Step::ignored:
    case Step::tracking:
      why_ = "INFO: ";
      break;
    case Step::fsync:
    case Step::marker:
    case Step::quarantine_why:
    case Step::quarantine:
    case Step::guard:
    case Step::marker_again:
      why_ = "restart guard: ";
      break;
  }
  why_ += without_secrets(error.text, password_);
  return Progress::refused;
}

Handshake::Progress Handshake::malformed(Step step) {
  switch (step) {
    case Step::authenticate:
    case Step::select:
      why_ = "AUTH or SELECT was not answered with a status";
      break;
    case Step::client_id:
      why_ = "CLIENT ID was not answered with a number";
      break;
    case Step::fsync:
    case Step::marker:
    case Step::quarantine_why:
    case Step::quarantine:
    case Step::guard:
    case Step::marker_again:
      why_ = "the restart guard's script was not answered as it is written";
      break;
    case Step::info:
    case Step::ignored:
    case Step::tracking:
      why_ = "INFO was not answered with a text";
      break;
  }
  return Progress::malformed;
}

}  // namespace redlock::redis
