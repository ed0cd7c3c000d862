#include "redis/encoder.hpp"

#include <hiredis/hiredis.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <memory>
#include <new>
#include <vector>

#include "core/marker.hpp"
#include "core/permits.hpp"
#include "core/waited_keys.hpp"
#include "redis/keys.hpp"
#include "redis/scripts_embedded.hpp"

namespace redlock::redis {
namespace {

struct FreeCommand {
  void operator()(char* command) const noexcept { redisFreeCommand(command); }
};

/// A number in decimal, without an allocation.
class Decimal {
 public:
  explicit Decimal(std::int64_t number) noexcept
      : end_(std::to_chars(digits_.data(), digits_.data() + digits_.size(), number).ptr) {}
  [[nodiscard]] std::string_view view() const noexcept {
    return {digits_.data(), static_cast<std::size_t>(end_ - digits_.data())};
  }

 private:
  std::array<char, 20> digits_{};
  char* end_;
};

[[nodiscard]] Decimal milliseconds_of(core::Duration ttl) noexcept {
  return Decimal(std::chrono::floor<std::chrono::milliseconds>(ttl).count());
}

/// So long nobody may have it: not a fraction less.
[[nodiscard]] Decimal milliseconds_rounded_up(core::Duration duration) noexcept {
  return Decimal(std::chrono::ceil<std::chrono::milliseconds>(duration).count());
}

struct ScriptCall {
  std::string_view command;
  std::string_view script;
};

[[nodiscard]] ScriptCall call_of(const scripts::Script& script, core::ScriptForm form) noexcept {
  switch (form) {
    case core::ScriptForm::digest:
      return {"EVALSHA", script.sha1};
    case core::ScriptForm::text:
      return {"EVAL", script.text};
  }
  return {};
}

/// `permits`: of how many the resource is one; 0: it is no permit.
void append_leave(std::string& out, const ScriptCall& call, std::uint32_t permits,
                  std::initializer_list<std::string_view> arguments) {
  std::vector<std::string_view> words{call.command, call.script};
  words.insert(words.end(), arguments);
  const Decimal count(permits);
  if (permits > 0) words.push_back(count.view());
  append_command(out, words);
}

void append_set(std::string& out, Dialect form, std::string_view resource, std::string_view token,
                core::Duration ttl) {
  const Decimal px = milliseconds_of(ttl);
  switch (form) {
    case Dialect::classic:
      append_command(out, {"SET", resource, token, "NX", "PX", px.view()});
      return;
    case Dialect::with_get:
    case Dialect::with_delex:
      append_command(out, {"SET", resource, token, "NX", "PX", px.view(), "GET"});
      return;
  }
}

}  // namespace

void append_command(std::string& out, std::span<const std::string_view> words) {
  constexpr std::size_t most_words = limits::resources + 16;
  std::array<const char*, most_words> starts;
  std::array<std::size_t, most_words> sizes;
  std::size_t count = 0;
  for (const std::string_view word : words) {
    starts.at(count) = word.data();
    sizes.at(count) = word.size();
    ++count;
  }
  char* formatted = nullptr;
  // int in hiredis 0.14, long long from 1.0 on.
  const auto size =
      redisFormatCommandArgv(&formatted, static_cast<int>(count), starts.data(), sizes.data());
  const std::unique_ptr<char, FreeCommand> owner(formatted);
  if (size < 0) throw std::bad_alloc();  // the only way in which it fails
  out.append(formatted, static_cast<std::size_t>(size));
}

namespace {

/// A server tracks what is read behind CLIENT CACHING YES.
void append_track(std::string& out, core::Tracked kind, std::string_view resource) {
  append_command(out, {"CLIENT", "CACHING", "YES"});
  switch (kind) {
    case core::Tracked::resource:
      return append_command(out, {"EXISTS", resource});
    case core::Tracked::queue:
      return append_command(out,
                            {"ZRANGE", std::string(keys::queue_prefix).append(resource), "0", "0"});
  }
}

/// Where a word begins in the command that begins at `command`.
std::size_t find_word(std::string_view bytes, std::size_t command, std::size_t word) {
  const auto next_line = [&](std::size_t from) { return bytes.find("\r\n", from) + 2; };
  std::size_t at = next_line(command);  // behind "*N"
  for (;;) {
    std::size_t size = 0;
    std::from_chars(bytes.data() + at + 1, bytes.data() + bytes.size(), size);  // behind "$"
    at = next_line(at);
    if (word-- == 0) return at;
    at += size + 2;
  }
}

/// Several resources by one command, and by another whose they are.
void append_set_all(std::string& bytes, std::string_view resource,
                    std::span<const std::string> others, std::string_view token,
                    std::string_view ttl) {
  const Decimal count(static_cast<std::int64_t>(others.size() + 1));
  std::vector<std::string_view> words{"MSETEX", count.view(), resource, token};
  std::vector<std::string_view> names{"MGET", resource};
  for (const std::string& other : others) {
    words.insert(words.end(), {other, token});
    names.push_back(other);
  }
  words.insert(words.end(), {"NX", "PX", ttl});
  append_command(bytes, words);
  append_command(bytes, names);
}

/// Where the marker is not the expected one, the node gets the quarantine all the same: a
/// transaction cannot decide.
void append_marker_transaction(std::string& bytes, const core::MarkerWrite& write) {
  using std::chrono::microseconds;
  // The node's clock is known to within a round trip, and a floor may be higher than it has to be.
  constexpr core::Duration margin = std::chrono::seconds(1);
  append_command(bytes, {"MULTI"});
  const std::array left{std::string_view("PTTL"), keys::quarantine};
  if (write.quarantine > core::Duration::zero()) {
    const auto floor =
        std::chrono::ceil<microseconds>(write.node_clock + write.quarantine + margin);
    const std::string milliseconds =
        std::to_string(std::chrono::ceil<std::chrono::milliseconds>(write.quarantine).count());
    append_command(bytes, {"SET", keys::quarantine, "enrolled", "NX", "PX", milliseconds});
    append_command(bytes, {"PEXPIRE", keys::quarantine, milliseconds, "GT"});
    append_command(bytes, {"ZADD", keys::fencing_numbers, "GT", std::to_string(floor.count()), "",
                           "inf", keys::longest_number_name});
  } else {
    for (int i = 0; i < 3; ++i) append_command(bytes, left);
  }
  const std::string text =
      write.text + ' ' + std::to_string(std::chrono::floor<microseconds>(write.node_clock).count());
  if (write.expected.empty()) {
    append_command(bytes, {"SET", keys::marker, text, "NX"});
  } else {
    append_command(bytes, {"SET", keys::marker, text, "IFEQ", write.expected});
  }
  append_command(bytes, {"GET", keys::marker});
  append_command(bytes, left);
  append_command(bytes, {"EXEC"});
}

void append_marker_write(std::string& bytes, const core::MarkerWrite& write) {
  const std::string quarantine =
      write.quarantine > core::Duration::zero()
          ? std::to_string(std::chrono::ceil<std::chrono::milliseconds>(write.quarantine).count())
          : "-1";
  append_command(bytes, {"EVAL", scripts::mark.text, "3", keys::marker, keys::quarantine,
                         keys::fencing_numbers, write.expected, write.text, quarantine,
                         write.as_new ? core::opened_as_new : ""});
}

/// What is about no resource.
void append_upkeep(std::string& bytes, core::Verb verb, core::ScriptForm form,
                   const core::Terms& terms) {
  switch (verb) {
    case core::Verb::kill_old:
      return append_command(bytes, {"CLIENT", "KILL", "ID", Decimal(terms.connection).view()});
    case core::Verb::read_clock:
      return append_command(bytes, {"TIME"});
    case core::Verb::read_evictions:
      return append_command(bytes, {"INFO", "stats"});
    case core::Verb::read_floor_and_marker:
      // In this order: an unchanged marker says that the floor, too, is that of the votes.
      append_command(bytes, {"ZMSCORE", keys::fencing_numbers, ""});
      [[fallthrough]];
    case core::Verb::read_marker:
      return append_command(bytes, {"GET", keys::marker});
    case core::Verb::prune_fencing_numbers: {
      const auto [command, script] = call_of(scripts::prune, form);
      return append_command(bytes, {command, script, "1", keys::fencing_numbers});
    }
    case core::Verb::write_name:
      return append_command(bytes, {"SET", std::string(keys::client_prefix).append(terms.client),
                                    terms.name, "PX", milliseconds_rounded_up(terms.ttl).view()});
    case core::Verb::write_marker:
      return append_marker_write(bytes, *terms.marker);
    case core::Verb::mark_plain:
      return append_marker_transaction(bytes, *terms.marker);
    default:
      return;
  }
}

/// Of an attempt that was lost and waits on: where its release puts it in the queue.
enum class PlaceAtRelease : std::uint8_t { none, as_before, for_any_permit, of_several };

PlaceAtRelease place_at_release(const core::Terms& terms) noexcept {
  if (terms.client.empty()) return PlaceAtRelease::none;
  if (!terms.kept_before.empty()) return PlaceAtRelease::of_several;
  if (!terms.more_resources.empty()) return PlaceAtRelease::none;
  return terms.permits > 0 ? PlaceAtRelease::for_any_permit : PlaceAtRelease::as_before;
}

}  // namespace

void Encoder::format(Frame& frame, core::Verb verb, const core::Terms& terms) {
  const std::string_view resource = terms.resource;
  const std::string_view token = terms.token;
  constexpr std::size_t of_command = 1;
  constexpr std::size_t of_script = 3;
  std::string& bytes = frame.bytes;
  bytes.clear();
  std::size_t& names = frame.names;
  names = 0;
  /// Appends one command that names the resource as its `word`th; answers where it begins.
  const auto append = [&](std::size_t word, std::initializer_list<std::string_view> words) {
    const std::size_t begin = bytes.size();
    append_command(bytes, words);
    frame.resource_at.at(names++) = find_word(bytes, begin, word);
    return begin;
  };
  const auto call = [&](const scripts::Script& script) {
    return call_of(script, frame.script_form);
  };
  /// A script for the resource, and those that are taken with it: `first` is a key before them. The
  /// token is its first argument.
  std::size_t token_word = 0;
  const auto append_script = [&](const scripts::Script& script, std::string_view first,
                                 std::initializer_list<std::string_view> arguments) {
    const auto [command, name] = call(script);
    const std::size_t keys = terms.more_resources.size() + (first.empty() ? 1U : 2U);
    const Decimal key_count(static_cast<std::int64_t>(keys));
    std::vector<std::string_view> words{command, name, key_count.view()};
    if (!first.empty()) words.push_back(first);
    const std::size_t of_resource = words.size();
    words.push_back(resource);
    words.insert(words.end(), terms.more_resources.begin(), terms.more_resources.end());
    token_word = words.size();
    words.push_back(token);
    words.insert(words.end(), arguments.begin(), arguments.end());
    append_command(bytes, words);
    frame.resource_at.at(names++) = find_word(bytes, 0, of_resource);
  };
  const Decimal ttl = milliseconds_of(frame.ttl);
  const auto set = [&] {
    append_set(bytes, frame.dialect, resource, token, frame.ttl);
    frame.resource_at.at(names++) = find_word(bytes, 0, of_command);
  };
  frame.number_at = 0;
  const Decimal digits(static_cast<std::int64_t>(terms.fencing_number));
  const Decimal mode(terms.queue_mode);
  const Decimal ticket(terms.ticket.value_or(0));
  const Decimal remember = milliseconds_of(core::queued_for);
  frame.reserved_for.reset();
  const std::string_view ticket_or_none = terms.ticket ? ticket.view() : std::string_view();
  const Decimal reservation = milliseconds_of(terms.reserved_for);
  const auto reserved_for = [&] {
    frame.reserved_for = terms.reserved_for;
    return reservation.view();
  };
  const auto append_raise = [&] {
    append(of_command + 1, {"ZMSCORE", keys::fencing_numbers, resource, ""});
    const std::size_t raise =
        append(of_command + 3, {"ZADD", keys::fencing_numbers, "GT", digits.view(), resource});
    frame.number_at = find_word(bytes, raise, of_command + 2);
    append(of_command, {"GET", resource});
  };
  /// Answers 1 where it made the number higher, or there was none.
  const auto append_short_raise = [&] {
    const std::size_t raise = append(
        of_command + 4, {"ZADD", keys::fencing_numbers, "GT", "CH", digits.view(), resource});
    frame.number_at = find_word(bytes, raise, of_command + 3);
    append(of_command, {"GET", resource});
  };
  switch (verb) {
    case core::Verb::kill_old:
    case core::Verb::read_clock:
    case core::Verb::read_evictions:
    case core::Verb::read_marker:
    case core::Verb::read_floor_and_marker:
    case core::Verb::write_marker:
    case core::Verb::mark_plain:
    case core::Verb::prune_fencing_numbers:
    case core::Verb::write_name:
      return append_upkeep(bytes, verb, frame.script_form, terms);
    case core::Verb::join_queue: {
      const auto [command, script] = call(scripts::queue);
      append_command(bytes, {command, script, "1", resource, terms.client, remember.view(),
                             mode.view(), ticket.view(), reserved_for()});
      return;
    }
    case core::Verb::leave_queue: {
      const std::string_view reserved = reserved_for();
      return append_leave(bytes, call(scripts::leave), terms.permits,
                          {"1", resource, terms.client, mode.view(), reserved});
    }
    case core::Verb::track:
      append_track(bytes, terms.tracked, resource);
      return;
    case core::Verb::set:
      set();
      token_word = of_command + 1;
      break;
    case core::Verb::set_and_ttl:
      set();
      append(of_command, {"PTTL", resource});
      token_word = of_command + 1;
      break;
    case core::Verb::set_fenced:
      set();
      append_raise();
      token_word = of_command + 1;
      break;
    case core::Verb::set_fenced_and_ttl:
      set();
      append_raise();
      append(of_command, {"PTTL", resource});
      token_word = of_command + 1;
      break;
    case core::Verb::set_fenced_short:
      set();
      append_short_raise();
      token_word = of_command + 1;
      break;
    case core::Verb::set_fenced_short_and_ttl:
      set();
      append_short_raise();
      append(of_command, {"PTTL", resource});
      token_word = of_command + 1;
      break;
    case core::Verb::take: {
      const Decimal writer_reservation = milliseconds_of(terms.writer_reservation);
      append_script(scripts::take, keys::fencing_numbers,
                    {ttl.view(), digits.view(), writer_reservation.view(), terms.client,
                     ticket_or_none, remember.view(), reserved_for()});
      frame.number_at = find_word(bytes, 0, token_word + 2);
      break;
    }
    case core::Verb::take_permit: {
      const Decimal permits(terms.permits);
      append_script(scripts::permit, {},
                    {ttl.view(), core::permits_prefix(resource), permits.view(), terms.client,
                     ticket_or_none, remember.view(), reserved_for()});
      break;
    }
    case core::Verb::enter:
      append_script(scripts::enter, {},
                    {ttl.view(), terms.group, terms.client,
                     milliseconds_of(terms.writer_reservation).view(), reserved_for()});
      break;
    case core::Verb::raise_fence:
      append_script(scripts::fence, keys::fencing_numbers, {digits.view()});
      frame.number_at = find_word(bytes, 0, token_word + 1);
      break;
    case core::Verb::extend:
      append_script(scripts::extend, {}, {ttl.view(), ""});
      break;
    case core::Verb::extend_or_set:
      append_script(scripts::extend, {}, {ttl.view(), terms.group.empty() ? "key" : terms.group});
      break;
    case core::Verb::release: {
      const Decimal cooldown = milliseconds_rounded_up(terms.cooldown);
      const Decimal kept_for = milliseconds_of(terms.writer_reservation);
      const std::string_view quiet = terms.quiet ? "1" : "0";
      switch (place_at_release(terms)) {
        case PlaceAtRelease::none:
          append_script(scripts::release, {}, {cooldown.view(), reserved_for()});
          break;
        case PlaceAtRelease::of_several:
          append_script(
              scripts::release, {},
              {cooldown.view(), reserved_for(), terms.client, terms.kept_before, kept_for.view()});
          break;
        case PlaceAtRelease::for_any_permit:
          append_script(scripts::release, {},
                        {cooldown.view(), reserved_for(), terms.client, ticket.view(),
                         remember.view(), quiet, core::permits_prefix(resource)});
          break;
        case PlaceAtRelease::as_before:
          append_script(scripts::release, {},
                        {cooldown.view(), reserved_for(), terms.client, ticket.view(),
                         remember.view(), quiet});
          break;
      }
      break;
    }
    case core::Verb::break_lock: {
      const auto [command, script] = call(scripts::break_lock);
      const Decimal delay = milliseconds_rounded_up(frame.ttl);
      append(of_script, {command, script, "1", resource, token, delay.view(), terms.keeper});
      token_word = of_script + 1;
      break;
    }
    case core::Verb::release_plain: {
      if (frame.dialect == Dialect::with_delex) {
        append(of_command, {"DELEX", resource, "IFEQ", token});
        token_word = of_command + 2;
      } else {
        append(of_command, {"DELIFEQ", resource, token});
        token_word = of_command + 1;
      }
      // What is named twice is counted twice: 1 for the resource, 2 for its queue.
      const std::string queue = std::string(keys::queue_prefix).append(resource);
      if (const auto any = core::any_permit_of(resource)) {
        const std::string others = std::string(keys::queue_prefix).append(*any);
        append(of_command, {"EXISTS", resource, queue, queue, others, others});
        break;
      }
      const std::size_t exists = append(of_command, {"EXISTS", resource, queue, queue});
      for (const std::size_t word : {of_command + 1, of_command + 2}) {
        frame.resource_at.at(names++) = find_word(bytes, exists, word) + keys::queue_prefix.size();
      }
      break;
    }
    case core::Verb::extend_plain:
    case core::Verb::repair_plain: {
      append_command(bytes, {"SET", resource, token, "IFEQ", token, "GET", "PX", ttl.view()});
      if (verb == core::Verb::repair_plain) set();
      break;
    }
    case core::Verb::raise_plain:
      append_raise();
      break;
    case core::Verb::set_all:
      append_set_all(bytes, resource, terms.more_resources, token, ttl.view());
      break;
    case core::Verb::notify: {
      const auto [command, script] = call(scripts::notify);
      append(of_script, {command, script, "1", resource, reserved_for()});
      break;
    }
    case core::Verb::inspect: {
      const auto [command, script] = call(scripts::inspect);
      append(of_script,
             {command, script, "3", resource, keys::fencing_numbers, keys::quarantine, token});
      token_word = of_script + 3;
      break;
    }
    case core::Verb::write_audit: {
      const auto [command, script] = call(scripts::audit);
      const Decimal kept = milliseconds_of(audit_kept_for);
      append(of_script, {command, script, "1", resource, token, terms.name, kept.view()});
      token_word = of_script + 1;
      break;
    }
    case core::Verb::expire_orphan: {
      const auto [command, script] = call(scripts::expire_orphan);
      const Decimal longest(static_cast<std::int64_t>(limits::token_bytes));
      append(of_script, {command, script, "1", resource, ttl.view(), longest.view()});
      break;
    }
  }
  frame.token_at = token_word != 0 ? find_word(bytes, 0, token_word) : 0;
}

bool Encoder::write_number(Frame& frame, std::uint64_t number) {
  if (frame.number_at == 0) return true;
  const Decimal digits(static_cast<std::int64_t>(number));
  if (digits.view().size() != frame.number_size) return false;
  std::copy(digits.view().begin(), digits.view().end(), frame.bytes.data() + frame.number_at);
  return true;
}

std::string_view Encoder::encode(core::Verb verb, core::ScriptForm script_form, Dialect dialect,
                                 const core::Terms& terms) {
  const std::string_view resource = terms.resource;
  const std::string_view token = terms.token;
  Frame& frame = frames_.at(static_cast<std::size_t>(verb))[resource.size() % lengths];
  const bool always_same = verb == core::Verb::read_clock || verb == core::Verb::read_evictions ||
                           core::is_marker_reading(verb);
  if (always_same && !frame.bytes.empty()) return frame.bytes;
  const bool names_a_resource = !core::is_upkeep(verb);
  // Some name the token more than once, and are seldom sent.
  const bool one_token = verb != core::Verb::extend_plain && verb != core::Verb::repair_plain &&
                         verb != core::Verb::set_all;
  const bool names_others = verb == core::Verb::release_plain && core::any_permit_of(resource);
  const bool plain = terms.none() && one_token && !names_others;
  const bool fits = plain && frame.plain && !frame.bytes.empty() && names_a_resource &&
                    frame.script_form == script_form && frame.dialect == dialect &&
                    frame.ttl == terms.ttl &&
                    (!frame.reserved_for || *frame.reserved_for == terms.reserved_for) &&
                    frame.resource_size == resource.size() && frame.token_size == token.size();
  if (fits && write_number(frame, terms.fencing_number)) {
    for (std::size_t i = 0; i < frame.names; ++i) {
      std::copy(resource.begin(), resource.end(), frame.bytes.data() + frame.resource_at[i]);
    }
    if (frame.token_at != 0) {
      std::copy(token.begin(), token.end(), frame.bytes.data() + frame.token_at);
    }
    return frame.bytes;
  }
  frame.number_size = Decimal(static_cast<std::int64_t>(terms.fencing_number)).view().size();
  frame.script_form = script_form;
  frame.dialect = dialect;
  frame.ttl = terms.ttl;
  frame.resource_size = resource.size();
  frame.token_size = token.size();
  frame.plain = plain;
  format(frame, verb, terms);
  return frame.bytes;
}

}  // namespace redlock::redis
