#include "runtime/survey.hpp"

#include <uv.h>

#include <algorithm>
#include <utility>

#include "core/membership/marker.hpp"
#include "core/membership/reign.hpp"
#include "core/vocabulary/durations.hpp"
#include "redis/connection/admin_connection.hpp"
#include "redis/scripts_embedded.hpp"
#include "redis/values/keys.hpp"
#include "redis/values/visible.hpp"
#include "runtime/survey_facts.hpp"
#include "runtime/visits.hpp"
#include "uv/deadline_timer.hpp"

namespace redlock::runtime {
namespace {

using redis::OwnedValue;
using redis::Value;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// Number of exchanges that measure a clock. The quickest one is the most exact, as its answer
/// spent the least time on the way.
constexpr std::size_t clock_samples = 5;

}  // namespace

/// The survey of one node, from connecting to the last step.
class Survey::Visit final : private redis::AdminConnectionOwner {
 public:
  Visit(uv_loop_t* loop, const std::string& url, redis::ConnectionTarget target,
        const core::Settings& settings)
      : connect_limit_(settings.connect_limit()),
        limit_(settings.longest_limit),
        of_cluster_(target.tag != nullptr),
        keys_(of_cluster_ ? target.tag->tag() + '*' : "*"),
        timer_(loop, uv::Callback::to<&Visit::on_deadline>(*this)),
        connection_(loop, std::move(target), *this) {
    node_.seen.url = url;
  }

  [[nodiscard]] bool busy() const noexcept { return step_ != Step::idle; }
  [[nodiscard]] const SurveyedNode& node() const noexcept { return node_; }
  [[nodiscard]] const Search& search() const noexcept { return search_; }
  [[nodiscard]] const Marked& marked() const noexcept { return marked_; }

  void check();
  void find_lock(milliseconds longest);
  void mark(const core::WriteMarker& write);

 private:
  enum class Step : std::uint8_t { idle, connecting, facts, clock, scanning, marking };

  void on_auth_result(const redis::AuthResult& result) noexcept override;
  void on_answers(std::vector<OwnedValue> answers) noexcept override;
  void on_end(const std::string& why) noexcept override;
  void on_deadline() noexcept;

  void ask_time();
  void take_time(const OwnedValue& answer);
  void scan(const std::string& cursor);
  void take_page(const OwnedValue& answer);
  void take_mark(const OwnedValue& answer);
  void begin(Step step);
  void finish();
  void fail(std::string why);

  const nanoseconds connect_limit_;
  const nanoseconds limit_;
  const bool of_cluster_;
  const std::string keys_;  // a pattern: the others of a cluster's server are of other slots
  SurveyedNode node_;
  Search search_;
  Marked marked_;
  std::string selection_;
  milliseconds longest_{0};
  std::size_t samples_ = 0;
  nanoseconds asked_at_{0};
  Step step_ = Step::idle;
  bool gone_ = false;
  uv::DeadlineTimer timer_;
  redis::AdminConnection connection_;
};

void Survey::Visit::begin(Step step) {
  step_ = step;
  timer_.arm(uv::DeadlineTimer::now() + (step == Step::connecting ? connect_limit_ : limit_));
}

void Survey::Visit::finish() {
  step_ = Step::idle;
  timer_.disarm();
}

void Survey::Visit::fail(std::string why) {
  gone_ = true;
  connection_.close();
  const Step failed = step_;
  finish();
  switch (failed) {
    case Step::idle:
      return;
    case Step::connecting:
    case Step::facts:
    case Step::clock:
      node_.seen.reachable = false;
      node_.seen.problem = std::move(why);
      return;
    case Step::scanning:
      search_.problem = std::move(why);
      return;
    case Step::marking:
      marked_.problem = std::move(why);
      return;
  }
}

void Survey::Visit::on_deadline() noexcept {
  fail(step_ == Step::connecting
           ? core::no_connection_within(connect_limit_) + connection_.missing()
           : "no answer within " + core::format_duration(limit_));
}

void Survey::Visit::on_end(const std::string& why) noexcept { fail(why); }

void Survey::Visit::check() {
  begin(Step::connecting);
  connection_.open();
}

void Survey::Visit::on_auth_result(const redis::AuthResult& result) noexcept {
  if (!result.authentication.empty()) {
    node_.seen.reachable = true;
    node_.seen.problem = result.authentication;
    node_.denied = result.authentication;
    connection_.close();
    gone_ = true;
    finish();
    return;
  }
  selection_ = result.selection;
  step_ = Step::facts;
  connection_.ask(fact_questions(core::servers_of(node_.seen.url),
                                 std::chrono::ceil<milliseconds>(limit_ / 4)));
}

void Survey::Visit::on_answers(std::vector<OwnedValue> answers) noexcept {
  switch (step_) {
    case Step::facts:
      take_facts(answers, connection_.peer(), node_);
      node_.unnamed_cluster = node_.seen.cluster && !of_cluster_;
      // Keys in another database do not belong to this deployment. A sentinel has no databases, and
      // a cluster has one: there a refused SELECT is not a separate problem.
      if (!selection_.empty() && node_.denied.empty() &&
          node_.seen.role != admin::NodeCheck::Role::sentinel && !node_.seen.cluster) {
        node_.marker.reset();
        node_.marker_text.clear();
        node_.seen.marked = node_.seen.restarted = false;
        node_.seen.quarantine = nanoseconds::zero();
        node_.quarantine_why.clear();
        fail(selection_);
      } else {
        ask_time();
      }
      return;
    case Step::clock:
      take_time(answers.front());
      return;
    case Step::scanning:
      take_page(answers.front());
      return;
    case Step::marking:
      take_mark(answers.front());
      return;
    case Step::idle:
    case Step::connecting:
      return;
  }
}

void Survey::Visit::ask_time() {
  step_ = Step::clock;
  redis::Questions question;
  question.add({"TIME"});
  asked_at_ = uv::DeadlineTimer::now();
  connection_.ask(question);
}

void Survey::Visit::take_time(const OwnedValue& answer) {
  const nanoseconds round_trip = uv::DeadlineTimer::now() - asked_at_;
  if (is_denial(answer.text) && node_.denied.empty()) node_.denied = answer.text;
  if (const auto time = server_time(answer)) {
    node_.time = std::chrono::floor<std::chrono::microseconds>(*time);
  }
  if (samples_ == 0 || round_trip < node_.seen.round_trip) {
    node_.seen.round_trip = round_trip;
    // Compared with the clock that nobody sets: a step of this machine's clock in between would
    // look like a step of the server's.
    const auto time = server_time(answer);
    if (time) node_.clock = *time - (asked_at_ + round_trip / 2);
    if (time && node_.fencing_floor) node_.fencing_ahead = *node_.fencing_floor - *time;
  }
  if (++samples_ < clock_samples) {
    ask_time();
  } else {
    finish();
  }
}

void Survey::Visit::find_lock(milliseconds longest) {
  longest_ = longest;
  search_ = {};
  begin(Step::scanning);
  if (gone_) {
    fail("the connection is gone");
    return;
  }
  scan("0");
}

void Survey::Visit::scan(const std::string& cursor) {
  redis::Questions question;
  const std::string longest = std::to_string(longest_.count());
  question.add(redis::scripts::FindLock{.cursor = cursor,
                                        .pattern = keys_,
                                        .longest_ms = longest,
                                        .own_prefix = redis::keys::node_prefix});
  timer_.arm(uv::DeadlineTimer::now() + limit_);
  connection_.ask(question);
}

void Survey::Visit::take_page(const OwnedValue& answer) {
  if (answer.is_error()) {
    search_.problem = answer.text;
    finish();
    return;
  }
  const auto& found = answer.elements;
  // An expiry longer than any interval is not a lock of ours, and may overflow nanoseconds.
  constexpr auto longest = std::chrono::duration_cast<milliseconds>(limits::longest_max_ttl);
  const bool has_lock = found.size() == 3 && found[1].type == Value::Type::bulk &&
                        found[2].type == Value::Type::integer && found[2].integer > 0 &&
                        found[2].integer <= longest.count();
  if (answer.type != Value::Type::array || (found.size() != 1 && !has_lock)) {
    fail("protocol violation: no page of keys");
    return;
  }
  if (has_lock) {
    search_.lock = Search::Lock{redis::visible(found[1].text), milliseconds(found[2].integer)};
    finish();
  } else if (found[0].text == "0") {
    finish();
  } else {
    scan(found[0].text);
  }
}

void Survey::Visit::mark(const core::WriteMarker& write) {
  marked_ = {};
  begin(Step::marking);
  if (gone_) {
    fail("the connection is gone");
    return;
  }
  redis::Questions question;
  const std::string text = core::format_marker(write.marker);
  const std::string quarantine = std::to_string(write.quarantine.count());
  question.add(redis::scripts::Mark{.marker = redis::keys::marker,
                                    .quarantine = redis::keys::quarantine,
                                    .numbers = redis::keys::fencing_numbers,
                                    .expected = write.expected,
                                    .text = text,
                                    .quarantine_ms = quarantine,
                                    .why = redis::keys::quarantine_of_change});
  connection_.ask(question);
}

void Survey::Visit::take_mark(const OwnedValue& answer) {
  const auto& elements = answer.elements;
  if (answer.is_error()) {
    marked_.refused = answer.text;
    finish();
    return;
  }
  if (answer.type != Value::Type::array || elements.size() != 3 ||
      elements[0].type != Value::Type::integer || elements[1].type != Value::Type::bulk) {
    fail("protocol violation: no answer to a compare-and-set");
    return;
  }
  marked_.written = elements[0].integer == 1;
  marked_.text = elements[1].text;
  finish();
}

Survey::Survey(const Configuration& configuration) {
  const auto& settings = configuration.settings;
  for (std::size_t i = 0; i < configuration.targets.size(); ++i) {
    visits_.push_back(std::make_unique<Visit>(loop_.get(), settings.nodes[i],
                                              configuration.targets[i], settings));
  }
}

Survey::~Survey() = default;

void Survey::run_until_idle() { run_while_busy(loop_, visits_); }

std::vector<SurveyedNode> Survey::check() {
  for (const auto& visit : visits_) visit->check();
  run_until_idle();
  std::vector<SurveyedNode> nodes;
  for (const auto& visit : visits_) nodes.push_back(visit->node());
  return nodes;
}

std::vector<Search> Survey::find_locks(milliseconds longest) {
  for (const auto& visit : visits_) visit->find_lock(longest);
  run_until_idle();
  std::vector<Search> found;
  for (const auto& visit : visits_) found.push_back(visit->search());
  return found;
}

Marked Survey::mark(std::size_t node, const core::WriteMarker& write) {
  visits_[node]->mark(write);
  run_until_idle();
  return visits_[node]->marked();
}

}  // namespace redlock::runtime
