// The simulator's model node against a real server: the same requests must get the same answers.

#include "simulation/node/model_node.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <sstream>

#include "core/membership/restart_guard.hpp"
#include "core/vocabulary/for_people.hpp"
#include "core/vocabulary/holder_words.hpp"
#include "core/vocabulary/texts.hpp"
#include "integration/deployment.hpp"
#include "integration/guarded.hpp"
#include "integration/scripts/said.hpp"
#include "redis/batches/encoder.hpp"
#include "redis/scripts_embedded.hpp"
#include "redis/values/classify.hpp"
#include "redis/values/keys.hpp"
#include "simulation/random.hpp"
#include "support/encoding.hpp"
#include "support/eventually.hpp"
#include "support/resp_client.hpp"

namespace redlock::test {
namespace {

using Answered = core::Reply;
using core::ScriptForm;
using core::Verb;
using simulation::ModelNode;
using simulation::Request;
using simulation::Response;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// The number of clients, of three that wait, that can be notified.
constexpr std::uint64_t listening = 2;
/// Longer than a step of the test takes.
constexpr std::int64_t reserved_ms = 5'000;

constexpr std::array verbs{
    Verb::set,
    Verb::set_and_ttl,
    Verb::set_fenced,
    Verb::set_fenced_and_ttl,
    Verb::set_fenced_short,
    Verb::set_fenced_short_and_ttl,
    Verb::take,
    Verb::raise_fence,
    Verb::extend,
    Verb::extend_or_set,
    Verb::release,
    Verb::inspect,
    Verb::prune_fencing_numbers,
    Verb::enter,
    Verb::take_permit,
    Verb::enter,
    Verb::extend_or_set,
    Verb::release,
    Verb::leave_queue,
    Verb::join_queue,
    Verb::check_queue,
    Verb::break_lock,
    Verb::break_lock,
    Verb::downgrade,
    // For servers that know them.
    Verb::release_plain,
    Verb::extend_plain,
    Verb::repair_plain,
    Verb::raise_plain,
    Verb::set_all,
};
/// The first verbs need SET … NX GET; clients use the others for older servers.
constexpr std::int64_t verbs_with_get = 6;
constexpr std::size_t plain_verbs = 5;
constexpr std::array<std::string_view, verbs.size()> verb_names{"set",
                                                                "set_and_ttl",
                                                                "set_fenced",
                                                                "set_fenced_and_ttl",
                                                                "set_fenced_short",
                                                                "set_fenced_short_and_ttl",
                                                                "take",
                                                                "raise_fence",
                                                                "extend",
                                                                "extend_or_set",
                                                                "release",
                                                                "inspect",
                                                                "prune_fencing_numbers",
                                                                "enter",
                                                                "take_permit",
                                                                "enter",
                                                                "extend_or_set",
                                                                "release",
                                                                "leave_queue",
                                                                "join_queue",
                                                                "check_queue",
                                                                "break_lock",
                                                                "break_lock",
                                                                "downgrade",
                                                                "release_plain",
                                                                "extend_plain",
                                                                "repair_plain",
                                                                "raise_plain",
                                                                "set_all"};
constexpr std::array<std::string_view, 4> groups{"", "shared", "owner a", "owner b"};
/// TTLs end in half a second and leaps are of whole seconds, so a key's end and a read of it are
/// half a second apart.
constexpr std::array<std::int64_t, 3> ttls_ms{10'500, 30'500, 60'500};

class ModelAgainstServer : public testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    RedisServerOptions options;
    options.clock = ServerClock::movable;
    server_.emplace(std::move(options));
    const Reply known = server_->command({"COMMAND", "LIST", "FILTERBY", "PATTERN", "delifeq"});
    compares_ = !known.elements.empty();
    gets_ = server_->is_since(7);
    begin_anew();
  }

  /// Empties both, and gives both the same clock.
  void begin_anew() {
    server_->command({"FLUSHALL"});
    server_->command({"SCRIPT", "FLUSH"});
    connect();
    model_.emplace(simulation::Clock(0, 0), simulation::Mutant::none);
    model_->publish = [](std::uint64_t client, std::size_t, std::uint32_t) {
      return client <= listening;
    };
    model_->has_permits = true;
    model_->forget();
  }

  void flush_scripts() {
    server_->command({"SCRIPT", "FLUSH"});
    model_->flush_scripts();
  }

  void connect() {
    wire_.emplace(*server_);
    listener_.emplace(RespClient::tcp(server_->port()));
    for (std::uint64_t client = 1; client <= listening; ++client) {
      const auto id = simulation::digits_of(client);
      const std::string channel =
          std::string(redis::keys::wake_channel) + std::string(id.data(), id.size());
      ASSERT_FALSE(listener_->call({"SUBSCRIBE", channel}).is_error());
    }
  }

  /// The server's clock, in nanoseconds: the model's true time.
  [[nodiscard]] simulation::True now() const {
    const auto time = server_->command({"TIME"});
    return (std::stoll(time.elements[0].string) * 1'000'000 + std::stoll(time.elements[1].string)) *
           1000;
  }

  void step() {
    const std::int64_t dice = random_.below(100);
    if (dice < 5) return leap();
    if (dice < 6) return restart();
    if (dice < 8) return guard();
    if (dice < 10) return mark();
    if (dice < 11) return flush_scripts();
    ask();
  }

  void ask() {
    const std::size_t known = verbs.size() - (compares_ ? 0 : plain_verbs);
    const auto which = static_cast<std::size_t>(
        random_.between(gets_ ? 0 : verbs_with_get, static_cast<std::int64_t>(known) - 1));
    Request request;
    request.stamp.verb = verbs[which];
    // The model does not know which scripts of the queue a node has, so these are sent in full.
    const bool in_full = core::is_about_queue(request.stamp.verb) || random_.per_mille(100);
    request.form = in_full ? ScriptForm::text : ScriptForm::digest;
    request.resource = static_cast<std::uint8_t>(random_.below(2));
    request.token = 1 + static_cast<std::uint64_t>(random_.below(3));
    const bool any = core::is_about_queue(request.stamp.verb) && random_.per_mille(300);
    if (any) request.resource = simulation::any_permit;
    request.ttl_ms = ttls_ms[static_cast<std::size_t>(random_.below(ttls_ms.size()))];
    const simulation::True at = now();
    request.number = any                                        ? 6
                     : core::is_about_queue(request.stamp.verb) ? random_.below(6)
                                                                : proposal(at);
    request.reserved_ms = reserved_ms;
    const std::string resource = any ? "r#" : "r#" + std::to_string(request.resource);
    draw_terms(request);
    const std::vector<std::string> also(request.both ? 1 : 0,
                                        request.resource == 0 ? "r#1" : "r#0");
    core::Terms terms;
    terms.more_resources = also;
    terms.group = groups[request.group];
    terms.downgraded = request.downgraded;
    terms.by_token = request.by_token;
    terms.writer_reservation = milliseconds(request.writer_reservation_ms);
    terms.cooldown = milliseconds(request.cooldown_ms);
    terms.permits = request.permits;
    const auto client = simulation::digits_of(request.client);
    if (request.client != 0) terms.client = {client.data(), client.size()};
    terms.ticket = request.ticket;
    terms.quiet = request.quiet;
    terms.reserved_for = milliseconds(reserved_ms);
    terms.waits_for = request.waits_for;
    terms.kept = request.kept;
    terms.keep = milliseconds(request.keep_ms);
    const auto keeper = simulation::digits_of(request.keeper);
    if (request.keeper != 0) terms.keeper = {keeper.data(), keeper.size()};
    const auto digits = simulation::digits_of(request.token);
    const bool about_nobody = request.token == 0;
    const Token token = about_nobody ? Token() : *Token::parse({digits.data(), digits.size()});
    const auto real = wire_->ask(
        test::encode(encoder_, request.stamp.verb, request.form, redis::Dialect::with_get, resource,
                     token, milliseconds(request.ttl_ms), request.number, terms),
        request.stamp.verb);
    // If a key ends between the two reads, the comparison proves nothing. The model may replace the
    // key.
    const bool is_unsure = ends_about(at);
    const Said model = said_by_model(request, at);
    ASSERT_TRUE(real) << verb_names[which];
    learn(*real);
    // This includes equal answers: the request may have left different keys.
    if (is_unsure) return begin_anew();
    if (same(*real, model)) return keep_floor();
    if (ends_about(at)) return begin_anew();
    ADD_FAILURE() << verb_names[which] << " of " << request.token << " on " << resource << ", TTL "
                  << request.ttl_ms << ", number " << request.number << ", group " << request.group
                  << (request.both ? ", both" : "") << ", keeps out for "
                  << request.writer_reservation_ms << ", cools down for " << request.cooldown_ms
                  << "\n  server: " << text_of(*real) << "\n  model:  " << text_of(model);
  }

  /// The token of the delay of one of two operators.
  [[nodiscard]] std::uint64_t a_delay() {
    return simulation::delay | (4 + static_cast<std::uint64_t>(random_.below(2)));
  }

  void draw_terms(Request& request) {
    const Verb verb = request.stamp.verb;
    const bool script = verb == Verb::take || verb == Verb::set_all || verb == Verb::raise_fence ||
                        verb == Verb::extend || verb == Verb::extend_or_set ||
                        verb == Verb::release;
    request.both = script && random_.per_mille(300);
    if (verb == Verb::take && random_.per_mille(300)) request.number = 0;
    // Clients never propose 0, which the model takes for no number; a node would store it.
    if (core::is_short(verb)) request.number = std::max<std::int64_t>(request.number, 1);
    if (verb == Verb::take && random_.per_mille(500)) request.writer_reservation_ms = 5'500;
    if (verb == Verb::release && random_.per_mille(200)) request.cooldown_ms = 15'500;
    // A waiting client, which a release queues again.
    if (verb == Verb::release && request.both && random_.per_mille(500)) {
      request.client = 1 + static_cast<std::uint64_t>(random_.below(3));
      request.kept = 1 + static_cast<std::uint64_t>(random_.below(3));
      request.keep_ms = 5'500;
    }
    const bool waits = verb == Verb::take || (verb == Verb::release && !request.both);
    if (waits && random_.per_mille(400)) {
      request.client = 1 + static_cast<std::uint64_t>(random_.below(3));
      request.ticket = random_.below(9);
      request.quiet = verb == Verb::release && random_.per_mille(500);
    }
    if (verb == Verb::take && request.both && request.client != 0) {
      request.waits_for = static_cast<std::uint64_t>(random_.below(3));
      if (random_.per_mille(700)) request.keep_ms = 5'500;
    }
    if (verb == Verb::inspect && random_.per_mille(500)) request.token = 0;
    if (verb == Verb::break_lock) request.keeper = a_delay();
    const bool may_be_of_a_delay =
        verb == Verb::break_lock || verb == Verb::release || verb == Verb::inspect;
    if (may_be_of_a_delay && random_.per_mille(150)) request.token = a_delay();
    const bool of_permits = request.resource == simulation::any_permit ||
                            (verb == Verb::release && waits && random_.per_mille(300));
    if (of_permits || verb == Verb::take_permit) request.permits = 2;
    if (verb == Verb::take_permit && random_.per_mille(700)) {
      request.client = 1 + static_cast<std::uint64_t>(random_.below(3));
      if (random_.per_mille(700)) request.ticket = random_.below(9);
    }
    if (verb == Verb::enter) {
      request.group = static_cast<std::uint64_t>(random_.between(1, 3));
      if (random_.per_mille(500)) request.writer_reservation_ms = 5'500;
      if (random_.per_mille(500)) request.client = 1 + static_cast<std::uint64_t>(random_.below(3));
    }
    if (verb == Verb::extend) request.by_token = random_.per_mille(300);
    if ((verb == Verb::extend_or_set || verb == Verb::extend) && !request.both) {
      request.group = static_cast<std::uint64_t>(random_.below(4));
      request.downgraded = request.group == 1 && random_.per_mille(500);
    }
  }

  /// The node's text for a holder: digits for a token, a name for a group and the cooldown.
  [[nodiscard]] static std::string name_of(std::uint64_t holder) {
    if (holder == simulation::cooldown) return std::string(redis::keys::cooldown);
    const bool reserved = simulation::is_reservation(holder);
    const auto digits =
        simulation::digits_of(reserved ? holder & ~simulation::reservation : holder);
    const std::string name(digits.data(), digits.size());
    return reserved ? std::string(reservation_prefix) + name : name;
  }

  [[nodiscard]] Said said_by_model(const Request& request, simulation::True at) {
    const Response response = model_->execute(request, at);
    Said said{response.reply, {}, response.number, {}};
    said.ticket = response.ticket;
    said.is_first = response.is_first;
    if (response.holder != 0) said.holder = name_of(response.holder);
    if (response.group != 0) said.holder = groups[response.group];
    if (response.writer) said.holder = "writer";
    if (request.stamp.verb == Verb::take_permit && response.reply == Answered::taken) {
      said.holder.assign(response.free.data(), request.permits);
    }
    if (response.holds) {
      said.holds = response.holds->count;
      said.has_token = response.holds->asked_for;
    }
    if (response.remaining_ms >= 0) said.remaining = milliseconds(response.remaining_ms);
    const bool inspected = response.reply == Answered::gone || response.reply == Answered::found;
    if (request.stamp.verb == Verb::inspect && inspected) {
      said.number = model_->number(request.resource);
      const simulation::ModelQueue& own = model_->queue(request.resource);
      const simulation::ModelQueue& queue =
          own.exists() ? own : model_->queue(simulation::any_permit);
      said.waiters = queue.size();
      const std::uint64_t next = simulation::is_reservation(response.holder)
                                     ? response.holder & ~simulation::reservation
                                     : simulation::client_of(queue.at(0));
      if (next != 0 && !response.holds) said.next = name_of(next);
      const bool tells = response.holds && request.token == 0;
      const auto holders = model_->holders(request.resource, at);
      for (std::size_t i = 0; tells && i < holders.size(); ++i) {
        said.tokens.push_back(name_of(holders[i]));
      }
    }
    if (response.reply == Answered::gone && request.stamp.verb == Verb::inspect) {
      said.remaining.reset();
    }
    return said;
  }

  /// A number near the stored one, or any; sometimes one that a node must refuse.
  [[nodiscard]] std::int64_t proposal(simulation::True at) {
    const std::int64_t micros = at / 1000;
    const std::int64_t hour = simulation::hour / 1000;
    const std::int64_t dice = random_.below(100);
    if (dice < 40 && last_number_ > 0) return last_number_ + random_.between(-1, 1);
    if (dice < 50) return micros + 30 * hour;
    return micros + random_.between(-hour, hour);
  }
  void learn(const Said& real) {
    if (real.number > 0) last_number_ = real.number;
  }

  /// Compares the floors. The first floor is the node's clock, read a moment apart; after that,
  /// both count by one.
  void keep_floor() {
    const auto score = server_->command({"ZSCORE", std::string(redis::keys::fencing_numbers), ""});
    const bool there = score.kind == Reply::Kind::string;
    ASSERT_EQ(there, model_->floor().has_value());
    if (!there) return;
    const std::int64_t floor = std::stoll(score.string);
    ASSERT_LT(std::abs(floor - *model_->floor()), 300'000);
    model_->floor() = floor;
  }

  [[nodiscard]] bool ends_about(simulation::True at) {
    constexpr simulation::True moment = 300 * simulation::ms;
    for (std::size_t resource = 0; resource < 2; ++resource) {
      if (model_->ends_within(resource, at - moment, at + moment)) {
        return true;
      }
    }
    return false;
  }

  void leap() {
    // Leaps go forward only: a server may or may not have deleted an expired key, and a clock set
    // back would show that.
    clock_ += seconds(random_.between(1, 20));
    server_->move_clock(clock_);
  }

  void restart() {
    const bool keeps = random_.per_mille(500);
    if (keeps) server_->command({"SAVE"});
    server_->restart(keeps ? Data::keep : Data::wipe);
    connect();
    model_->start_again();
    if (!keeps) model_->forget();
  }

  void guard() {
    const bool trusted = random_.per_mille(300);
    const std::string longest = random_.per_mille(500) ? "20000" : "15000";
    simulation::GuardRequest request;
    request.run_id = field_of(*server_, "server", "run_id");
    request.memory.history = field_of(*server_, "replication", "master_replid");
    if (random_.per_mille(200)) request.memory.history = "another";
    const auto evicted = random_.below(4);
    if (evicted > 0) request.memory.history += "+" + std::to_string(evicted);
    request.memory.own_data = random_.per_mille(500);
    request.memory.keeps_keys = random_.per_mille(700);
    request.max_ttl_ms = std::stoll(longest);
    request.quarantine_ms = 20'500;
    request.trusted = trusted;
    request.name = random_.per_mille(800) ? "redis://a" : "redis://b";
    request.incarnation = "i" + std::to_string(random_.below(1'000'000));
    const std::string before = server_->get(std::string(redis::keys::marker)).value_or("");
    const auto by_client = guard_by_client(request, before);
    const auto real = server_->command(
        {"EVAL", std::string(redis::scripts::guard.text), "3", std::string(redis::keys::marker),
         std::string(redis::keys::quarantine), std::string(redis::keys::fencing_numbers),
         request.run_id, request.memory.history, request.memory.own_data ? "own" : "unknown",
         request.memory.keeps_keys ? "keeps" : "unknown", longest,
         std::to_string(request.quarantine_ms), trusted ? "durable" : "volatile", request.name,
         request.incarnation});
    const simulation::GuardResponse model = model_->guard(request, now());
    ASSERT_EQ(real.elements.size(), 3U);
    EXPECT_LT(std::abs(real.elements[1].integer - model.quarantine_ms), 500);
    EXPECT_EQ(without_time(real.elements[0].string), without_time(model.marker));
    compare_with(by_client, before, real);
    keep_floor();
  }

  /// The writes of a client that may not run scripts.
  [[nodiscard]] std::optional<core::GuardWrites> guard_by_client(
      const simulation::GuardRequest& request, const std::string& marker) const {
    const auto left = server_->pttl(std::string(redis::keys::quarantine));
    const auto floor = server_->command({"ZSCORE", std::string(redis::keys::fencing_numbers), ""});
    core::GuardReading reading{.marker = marker};
    if (left != -2) reading.quarantine = milliseconds(left);
    if (floor.kind == Reply::Kind::string) reading.floor = std::stoull(floor.string);
    reading.time = std::chrono::floor<microseconds>(std::chrono::nanoseconds(now()));
    return core::guard_node(reading, {.run_id = request.run_id,
                                      .memory = request.memory,
                                      .max_ttl = milliseconds(request.max_ttl_ms),
                                      .quarantine = milliseconds(request.quarantine_ms),
                                      .durable = request.trusted,
                                      .name = request.name,
                                      .incarnation = request.incarnation});
  }
  void compare_with(const std::optional<core::GuardWrites>& writes, const std::string& before,
                    const Reply& real) const {
    const std::string& marker = real.elements[0].string;
    EXPECT_EQ(without_time(writes ? writes->marker : before), without_time(marker));
    if (!writes || !writes->quarantine) return;
    EXPECT_LT(std::abs(real.elements[1].integer - writes->quarantine->count()), 500);
    EXPECT_EQ(real.elements[2].string, writes->why);
    const auto floor = server_->command({"ZSCORE", std::string(redis::keys::fencing_numbers), ""});
    if (writes->floor) {
      EXPECT_LT(std::abs(std::stoll(floor.string) - static_cast<std::int64_t>(*writes->floor)),
                500'000);
    }
  }

  /// The marker without its last field, the time since when the node remembers.
  [[nodiscard]] static std::string without_time(const std::string& marker) {
    const auto parsed = core::parse_marker(marker);
    if (!parsed || parsed->remembers_since == core::Marker::always) {
      return marker.substr(0, marker.rfind(' '));
    }
    core::Marker same = *parsed;
    same.remembers_since = core::Marker::from_its_writing;
    return core::format_marker(same);
  }

  /// A compare-and-set of the marker, as clients send it.
  void mark() {
    const bool meets = random_.per_mille(700);
    const bool quarantines = random_.per_mille(500);
    core::MarkerWrite write;
    write.expected = meets ? model_->marker() : "another";
    write.text = "redlock3 blank i" + std::to_string(random_.below(1'000'000)) +
                 " - run repl 20000 volatile - - -" + (random_.per_mille(300) ? " since" : "");
    if (quarantines) write.quarantine = milliseconds(random_.between(1'000, 20'000));
    simulation::Request request;
    request.stamp.verb = core::Verb::write_marker;
    request.form = core::ScriptForm::text;
    request.write = write;
    const simulation::Response model = model_->execute(request, now());
    const std::string there = server_->get(std::string(redis::keys::marker)).value_or("");
    const auto left = std::chrono::ceil<milliseconds>(write.quarantine).count();
    const auto real =
        server_->command({"EVAL", std::string(redis::scripts::mark.text), "3",
                          std::string(redis::keys::marker), std::string(redis::keys::quarantine),
                          std::string(redis::keys::fencing_numbers), meets ? there : write.expected,
                          write.text, quarantines ? std::to_string(left) : "-1", ""});
    ASSERT_EQ(real.elements.size(), 3U);
    EXPECT_EQ(real.elements[0].integer, meets ? 1 : 0);
    EXPECT_EQ(without_time(real.elements[1].string), without_time(model.marker));
    EXPECT_LT(std::abs(real.elements[2].integer - model.time / 1'000'000), 500);
    keep_floor();
  }

  std::optional<RedisServer> server_;
  bool compares_ = false;
  bool gets_ = false;
  simulation::Random random_{GetParam()};
  redis::Encoder encoder_;
  std::optional<Wire> wire_;
  std::optional<RespClient> listener_;  // for the clients up to `listening`
  std::optional<ModelNode> model_;
  seconds clock_{0};
  std::int64_t last_number_ = 0;
};

TEST_P(ModelAgainstServer, AnswersTheSame) {
  for (int i = 0; i < 1500 && !HasFailure(); ++i) {
    SCOPED_TRACE("request " + std::to_string(i) + " of seed " + std::to_string(GetParam()));
    step();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ModelAgainstServer, testing::Range<std::uint64_t>(1, 9));

}  // namespace
}  // namespace redlock::test
