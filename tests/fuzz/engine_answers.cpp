// The engine between callers and servers that do what they want: requests, connections that come
// and go, time, and every answer that classify() lets through, in any order that its contract
// allows. Each byte decides one thing; see Driver::act().

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/engine/engine.hpp"
#include "fuzz/answering.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/sayings.hpp"
#include "redis/values/reply.hpp"
#include "redlock/options.hpp"
#include "runtime/explain.hpp"
#include "simulation/random.hpp"

namespace redlock::fuzz {
namespace {

using core::Command;
using core::NodeIndex;
using std::chrono::milliseconds;

constexpr std::array<core::Duration, 12> spans{
    core::Duration(0),   core::Duration(1'000), core::Duration(400'000), milliseconds(1),
    milliseconds(20),    milliseconds(100),     milliseconds(300),       milliseconds(1000),
    milliseconds(9'000), milliseconds(30'000),  milliseconds(40'000),    std::chrono::hours(48)};
constexpr std::array<core::Duration, 6> ttls{milliseconds(1),     milliseconds(2),
                                             milliseconds(50),    milliseconds(1000),
                                             milliseconds(10000), milliseconds(30000)};
constexpr std::array<std::string_view, 3> resources{"a", "b", "c"};
constexpr auto wall_epoch = std::chrono::seconds(1'700'000'000);

class Driver {
 public:
  explicit Driver(Input& input)
      : input_(input),
        randomness_(input.byte()),
        nodes_(1 + input.below(5)),
        engine_(settings_for(nodes_.size(), input), randomness_) {}

  void run() {
    step(core::TimePassed{});
    while (!input_.empty() && !drained_) act();
    // Every byte may have been a request, and every request waits for a retry or two.
    if (!shut_down_) shut_down(milliseconds(500));
    for (int i = 0; i < 1000 && !drained_; ++i) let_pass();
    REDLOCK_ASSERT(drained_);
    for (const auto& [request, open] : requests_) REDLOCK_ASSERT(!open);
  }

 private:
  struct Open {
    core::Stamp stamp;
    core::ScriptForm form{};
    std::uint64_t number = 0;
    std::string token;
  };
  struct Node {
    enum class State { idle, connecting, up } state = State::idle;
    std::deque<Open> open{};
    redis::Dialect form = redis::Dialect::classic;
    std::int64_t connection = 0;
  };

  static core::Settings settings_for(std::size_t nodes, Input& input) {
    core::Settings settings;
    for (std::size_t i = 0; i < nodes; ++i) settings.nodes.push_back("node" + std::to_string(i));
    const std::size_t majority = nodes / 2 + 1;
    const std::uint8_t choices = input.byte();
    settings.quorum = std::min(nodes, majority + (choices & 1U));
    settings.clock_guard = (choices & 2U) != 0;
    settings.max_unanswered = (choices & 4U) != 0 ? 3 : settings.max_unanswered;
    settings.shortest_limit = milliseconds(50);
    settings.longest_limit = milliseconds(200);
    return settings;
  }

  void act() {
    constexpr std::size_t most_requests = 200;
    const std::size_t what = input_.below(30);
    if (what < 8) return answer(node());
    if (what < 10) return come_up(node());
    if (what == 10) return go_down(node());
    if (what < 13) return pass(spans[input_.below(spans.size())]);
    if (what == 13) return let_pass();
    if (requests_.size() >= most_requests) return;
    switch (what) {
      case 14:
      case 15:
        return acquire();
      case 16:
        return step(core::Extend{request(), lease(), ttl()});
      case 17:
        return step(core::Release{request(), lease()});
      case 18:
        return step(core::Detach{lease()});
      case 19:
        return step(core::ExtendToken{request(), resource(), token(), ttl()});
      case 20:
        return step(core::ReleaseToken{request(), resource(), token()});
      case 21:
        return step(core::Inspect{request(), resource()});
      case 22:
        return step(core::Cancel{core::CallId{1 + input_.below(requests_.size() + 1)}});
      case 23:
        return step(core::Subscribed{node()});
      case 24:
        return step(core::Notification{node(), resource(), input_.byte()});
      case 25:
        return step(core::Unsubscribed{node()});
      case 26:
        return observe();
      case 27:
        return step(core::WatchQueue{lease()});
      case 28:
        return change();
      default:
        if (input_.below(16) == 0 && !shut_down_) shut_down(spans[input_.below(8)]);
        return;
    }
  }

  // --- the meaning of the bytes ---
  NodeIndex node() { return static_cast<NodeIndex>(input_.below(nodes_.size())); }
  core::Duration ttl() { return ttls[input_.below(ttls.size())]; }
  std::string_view resource() { return resources[input_.below(resources.size())]; }
  core::CallId request() {
    const std::uint64_t number = requests_.size() + 1;
    requests_[number] = true;
    return core::CallId{number};
  }
  /// Of those that were granted at any time: a caller may be late.
  core::ClaimId lease() {
    const std::size_t which = input_.byte();
    return leases_.empty() ? core::ClaimId{} : leases_[which % leases_.size()];
  }
  Token token() {
    const std::size_t which = input_.byte();
    if (tokens_.empty()) return Token::parse("other").value();
    return Token::parse(tokens_[which % tokens_.size()]).value();
  }

  // --- events ---
  void acquire() {
    const std::uint8_t how = input_.byte();
    core::Acquire event;
    event.request = request();
    event.resource = resource();
    event.ttl = ttl();
    if ((how & 1U) != 0) event.wait = spans[input_.below(spans.size())];
    event.wants_remaining = (how & 2U) != 0;
    if ((how & 4U) != 0) event.fencing = wall_epoch;
    if ((how & 8U) != 0) event.renewal = core::RenewalLimits{input_.byte(), ttl()};
    if ((how & 16U) != 0) event.renewal = core::RenewalLimits{3, forever};
    if ((how & 32U) != 0) event.orphan_ttl = ttl();
    if ((how & 64U) != 0) event.wait = forever;
    if ((how & 128U) != 0) draw_terms(event);
    step(event);
  }

  void draw_terms(core::Acquire& event) {
    static const std::vector<std::string> more{"more", "and more"};
    const std::uint8_t which = input_.byte();
    if ((which & 3U) == 0) event.more_resources = more;
    if ((which & 3U) == 1) event.group = (which & 4U) != 0 ? "shared" : "owner somebody";
    if ((which & 3U) == 2) event.permits = 1U + which / 4U;
    if ((which & 3U) == 3) event.interval = spans[which / 4U % spans.size()];
    if (!event.group.empty() || event.permits > 0) event.fencing.reset();
  }

  void observe() {
    const core::CallId number = request();
    observing_.insert(number);
    step(core::Observe{number, resource(), milliseconds(250)});
  }

  void change() {
    const std::uint8_t how = input_.byte();
    const auto kind = (how & 1U) != 0 ? core::Tracked::queue : core::Tracked::resource;
    step(core::Changed{node(), kind, resource()});
  }

  static core::Capabilities capabilities_of(std::uint8_t how) {
    using core::Capability;
    const bool is_modern = (how & 1U) != 0;
    core::Capabilities can;
    if (is_modern) can = can.with({Capability::name_holder, Capability::set_fenced});
    if (is_modern && (how & 2U) != 0) can = can.with({Capability::compare, Capability::set_all});
    if ((how & 4U) == 0) can = can.with({Capability::run_scripts});
    if ((how & 64U) != 0) can = can.with({Capability::track});
    return can;
  }

  void come_up(NodeIndex index) {
    Node& node = nodes_[index];
    const std::uint8_t how = input_.byte();
    if (node.state != Node::State::connecting) return;
    node.state = Node::State::up;
    const core::Capabilities capabilities = capabilities_of(how);
    node.form = redis::dialect_of(capabilities);
    node.connection = ++connections_;
    const std::string server = "server" + std::to_string((how & 2U) != 0 ? how % 5 : index + 10);
    core::NodeUp event;
    event.node = index;
    event.server = server;
    event.connection = node.connection;
    event.capabilities = capabilities;
    if ((how & 0x0cU) == 0x0cU) event.ineligible = "ineligible";
    if ((how & 0x30U) == 0x30U) {
      event.quarantine = ttls[how % ttls.size()];
      event.quarantine_why = "restarted";
    }
    step(event);
  }

  void go_down(NodeIndex index) {
    Node& node = nodes_[index];
    if (node.state == Node::State::idle) return;
    end(index, core::NodeDown::Cause::unreachable);
  }

  void end(NodeIndex index, core::NodeDown::Cause cause) {
    nodes_[index].state = Node::State::idle;
    nodes_[index].open.clear();
    step(core::NodeDown{index, cause, "gone"});
  }

  void answer(NodeIndex index) {
    Node& node = nodes_[index];
    if (node.state != Node::State::up || node.open.empty()) return;
    const Open asked = node.open.front();
    node.open.pop_front();
    const core::Verb verb = asked.stamp.verb;
    const auto wall = std::chrono::floor<std::chrono::seconds>(now_.time_since_epoch());
    const Words words{asked.number, asked.token, (wall_epoch + wall).count()};
    std::vector<const redis::Value*> values;
    reader_.recycle();
    for (std::size_t i = 0; i < redis::values_expected(verb); ++i) {
      reader_.feed(said(sayings[input_.below(sayings.size())], words));
      values.push_back(reader_.next());
      REDLOCK_ASSERT(values.back() != nullptr);
    }
    const auto meaning = classified(verb, node.form, values);
    if (!meaning) return end(index, core::NodeDown::Cause::error);
    core::Answer event{index, asked.stamp, meaning->reply, meaning->text, meaning->remaining};
    event.number = meaning->number;
    event.time = meaning->time;
    event.holds = meaning->holds;
    answering_ = asked;
    answered_by_ = index;
    step(event);
    answering_.reset();
  }

  void pass(core::Duration by) {
    now_ = core::later(now_, by);
    step(core::TimePassed{});
  }

  /// As a driver that wakes up in time.
  void let_pass() {
    if (const auto next = engine_.next_deadline()) now_ = std::max(now_, *next);
    step(core::TimePassed{});
  }

  void shut_down(core::Duration grace) {
    shut_down_ = true;
    step(core::Shutdown{grace});
  }

  // --- what is commanded ---
  void step(const core::Event& event) {
    if (drained_) return;
    commands_.clear();
    engine_.step(now_, event, commands_);
    for (const Command& command : commands_) {
      std::visit([this](const auto& alternative) { carry_out(alternative); }, command);
    }
  }

  void carry_out(const core::Connect& command) {
    REDLOCK_ASSERT(nodes_.at(command.node).state == Node::State::idle);
    nodes_[command.node].state = Node::State::connecting;
  }
  void carry_out(const core::Disconnect& command) {
    REDLOCK_ASSERT(nodes_.at(command.node).state != Node::State::idle);
    nodes_[command.node].state = Node::State::idle;
    nodes_[command.node].open.clear();
  }
  void carry_out(const core::Subscribe& command) {
    REDLOCK_ASSERT(!engine_.client_id().empty() && !command.nodes.empty());
  }
  void carry_out(const core::ProbeSubscription&) {}
  void carry_out(const core::Unsubscribe&) {}
  void carry_out(const core::Request& command) { send(command, command.form); }
  void carry_out(const core::Acquired& outcome) {
    acquired(outcome);
    report(outcome.round, {}, outcome.elapsed);
    answered(outcome.request);
  }
  void carry_out(const core::Extended& outcome) {
    REDLOCK_ASSERT(outcome.valid_until > now_);
    if (outcome.request != core::CallId::none) answered(outcome.request);
  }
  void carry_out(const core::Released& outcome) {
    report(outcome.round, {}, outcome.elapsed);
    answered(outcome.request);
  }
  void carry_out(const core::Inspected& outcome) {
    const std::vector<std::string>& urls = engine_.settings().nodes;
    const Inspection inspection = runtime::report_inspection(*outcome.round, urls);
    REDLOCK_ASSERT(inspection.nodes.size() == urls.size());
    // An observer is answered after every change.
    if (!observing_.contains(outcome.request)) answered(outcome.request);
  }
  void carry_out(const core::Failed& outcome) {
    if (outcome.round != nullptr) report(outcome.round, outcome.code, outcome.elapsed);
    answered(outcome.request);
  }
  void carry_out(const core::QueueWatched& outcome) { REDLOCK_ASSERT(is_lease(outcome.claim)); }
  void carry_out(const core::AtRisk& outcome) { REDLOCK_ASSERT(is_lease(outcome.claim)); }
  void carry_out(const core::Lost& outcome) { REDLOCK_ASSERT(is_lease(outcome.claim)); }
  void carry_out(const core::StoodStill&) {}
  void carry_out(const core::CountersReset&) {}
  void carry_out(const core::NodeExcluded& command) {
    REDLOCK_ASSERT(harmless(engine_.exclusion(command.node)));
  }
  void carry_out(const core::NodeLearned&) { nodes_.emplace_back(); }
  void carry_out(const core::Undelivered& command) {
    REDLOCK_ASSERT(shut_down_ && !drained_ && command.releases > 0);
  }
  void carry_out(const core::Drained&) {
    REDLOCK_ASSERT(shut_down_ && !drained_);
    drained_ = true;
  }

  void send(const core::Request& request, core::ScriptForm form) {
    Open open;
    open.stamp = request.stamp;
    open.form = form;
    const core::Claim* claim = engine_.claim(request.stamp.claim());
    REDLOCK_ASSERT((claim == nullptr) == core::is_upkeep(request.stamp.verb));
    if (claim != nullptr) {
      open.token = claim->token();
      const bool by_number =
          core::is_fenced(request.stamp.verb) || core::is_raise(request.stamp.verb);
      REDLOCK_ASSERT(!by_number || claim->fencing());
      if (claim->fencing()) open.number = claim->fencing()->number;
      // Numbers that Lua and sorted sets cannot distinguish must never be fencing tokens.
      REDLOCK_ASSERT(!is_numbered(request.stamp.verb) || open.number < core::fence_limit);
      REDLOCK_ASSERT(request.stamp.verb != core::Verb::expire_orphan || claim->terms().orphan_ttl);
    }
    request.nodes.each([&](NodeIndex index) {
      REDLOCK_ASSERT(nodes_.at(index).state == Node::State::up);
      // A node that never knows a script would be sent it for ever.
      const bool again = answering_ && answering_->stamp == open.stamp && answered_by_ == index;
      const bool in_full = open.form == core::ScriptForm::text;
      REDLOCK_ASSERT(!again || !in_full || answering_->form != core::ScriptForm::text);
      nodes_[index].open.push_back(open);
    });
  }

  void acquired(const core::Acquired& outcome) {
    REDLOCK_ASSERT(outcome.valid_until > now_);
    const core::Claim* claim = engine_.claim(outcome.claim);
    REDLOCK_ASSERT(claim != nullptr && claim->phase == core::Claim::Phase::held);
    REDLOCK_ASSERT(outcome.round != nullptr);
    REDLOCK_ASSERT(outcome.round->granted().size() >= engine_.settings().quorum);
    REDLOCK_ASSERT(!claim->fencing() || claim->fencing()->number < core::fence_limit);
    leases_.push_back(outcome.claim);
    tokens_.emplace_back(claim->token());
  }

  /// What the caller reads about the round.
  void report(const core::Round* round, Errc code, core::Duration elapsed) {
    const auto urls = std::make_shared<const std::vector<std::string>>(engine_.settings().nodes);
    Round report = runtime::report_round(*round, urls, elapsed, {});
    for (const NodeVote& node : report.nodes) REDLOCK_ASSERT(harmless(node.message));
    const Error error = runtime::explain(code, "resource", std::move(report));
    REDLOCK_ASSERT(harmless(error.message) && error.message.size() < 4000);
  }

  [[nodiscard]] bool is_lease(core::ClaimId id) const {
    return std::find(leases_.begin(), leases_.end(), id) != leases_.end();
  }

  void answered(core::CallId request) {
    const auto found = requests_.find(static_cast<std::uint64_t>(request));
    REDLOCK_ASSERT(found != requests_.end() && found->second);
    found->second = false;
  }

  Input& input_;
  simulation::SeededRandomness randomness_;
  std::vector<Node> nodes_;
  core::Engine engine_;
  core::Instant now_{std::chrono::seconds(100)};
  std::vector<Command> commands_;
  std::map<std::uint64_t, bool> requests_;  // whether it is still to be answered
  std::set<core::CallId> observing_;
  std::vector<core::ClaimId> leases_;
  std::vector<std::string> tokens_;
  std::int64_t connections_ = 0;
  redis::ReplyReader reader_;
  std::optional<Open> answering_;
  NodeIndex answered_by_ = 0;
  bool shut_down_ = false;
  bool drained_ = false;
};

}  // namespace
}  // namespace redlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace redlock::fuzz;
  Input input(data, size);
  Driver(input).run();
  return 0;
}
