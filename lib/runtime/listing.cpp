#include "runtime/listing.hpp"

#include <uv.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "core/vocabulary/durations.hpp"
#include "core/vocabulary/texts.hpp"
#include "redis/connection/admin_connection.hpp"
#include "redis/scripts_embedded.hpp"
#include "redis/values/keys.hpp"
#include "redis/values/visible.hpp"
#include "runtime/visits.hpp"
#include "uv/deadline_timer.hpp"

namespace redlock::runtime {
namespace {

using redis::OwnedValue;
using redis::Value;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// Keys that one call of a script goes through: it holds up the node for half a millisecond.
constexpr std::size_t keys_per_page = 250;
constexpr std::size_t locks_per_question = limits::resources;

std::optional<StoredLock::Form> form_named(std::string_view word) {
  if (word == "none") return StoredLock::Form::none;
  if (word == "token") return StoredLock::Form::token;
  if (word == "holds") return StoredLock::Form::holds;
  if (word == "reserved") return StoredLock::Form::reserved;
  if (word == "unreadable") return StoredLock::Form::unreadable;
  return std::nullopt;
}

bool is_count(const OwnedValue& value) {
  return value.type == Value::Type::integer && value.integer >= 0;
}

/// Takes the next text as a number of at most `most`: anybody can write an expiry that overflows
/// 64-bit nanoseconds. None: malformed.
std::optional<std::int64_t> take_number(std::string_view& texts, std::int64_t most) {
  const auto text = core::take_text(texts);
  std::int64_t number = 0;
  if (!text) return std::nullopt;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), number);
  if (parsed.ec != std::errc{} || parsed.ptr != text->data() + text->size()) return std::nullopt;
  return std::clamp<std::int64_t>(number, 0, most);
}

/// Takes list_locks.lua's answer for one resource; none: malformed.
std::optional<StoredLock> take_lock(std::string_view& texts) {
  constexpr milliseconds longest = 2 * limits::longest_max_ttl;
  const auto waiters = take_number(texts, UINT32_MAX);
  const auto form = form_named(core::take_text(texts).value_or(""));
  const auto text = core::take_text(texts);
  const auto left = take_number(texts, longest.count());
  const auto holds = take_number(texts, UINT32_MAX);
  const auto name = core::take_text(texts);
  if (!waiters || !form || !text || !left || !holds || !name) return std::nullopt;
  return StoredLock{*form,
                    std::string(*text),
                    milliseconds(*left),
                    static_cast<std::uint32_t>(*holds),
                    static_cast<std::uint32_t>(*waiters),
                    std::string(*name)};
}

/// Takes the name of a resource; none: malformed.
std::optional<std::string_view> take_resource(std::string_view& texts) {
  const auto name = core::take_text(texts);
  return name && name->size() <= limits::resource_bytes ? name : std::nullopt;
}

/// Whether a semaphore whose name matches has permits whose names do not match. After an unfinished
/// class or escape, appended text would be a part of it.
bool needs_permits(std::string_view pattern) {
  bool in_class = false;
  bool matches_all_behind = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    matches_all_behind = pattern[i] == '*' && !in_class;
    if (pattern[i] == '[') in_class = true;
    if (pattern[i] == ']') in_class = false;
    if (pattern[i] == '\\' && ++i == pattern.size()) return false;
  }
  return !in_class && !matches_all_behind;
}

}  // namespace

/// One way through the keys of a node.
struct Listing::Walk {
  std::string pattern;
  std::string_view wanted;
  std::string cursor = "0";
  bool over = false;
};

/// A pattern for resources matches neither the queues of their waiters nor the permits of a
/// semaphore: these get their own walks, with the same number of keys.
std::vector<Listing::Walk> Listing::walks_for(const std::string& pattern) {
  if (pattern.empty() || pattern == "*") return {{"*", "both"}};
  const std::string queue(redis::keys::queue_prefix);
  std::vector<Walk> walks{{pattern, "locks"}, {queue + pattern, "queues"}};
  if (needs_permits(pattern)) {
    const std::string permits = pattern + "#[0-9]*";
    walks.push_back({permits, "locks"});
    walks.push_back({queue + permits, "queues"});
  }
  return walks;
}

/// The listing of one node, from connecting to the last answer.
class Listing::Visit final : private redis::AdminConnectionOwner {
 public:
  Visit(uv_loop_t* loop, const std::string& url, redis::ConnectionTarget target,
        const core::Settings& settings, const LockQuery& query)
      : query_(query),
        connect_limit_(settings.connect_limit()),
        limit_(settings.longest_limit),
        walks_(walks_for(query.pattern)),
        timer_(loop, uv::Callback::to<&Visit::on_deadline>(*this)),
        connection_(loop, std::move(target), *this) {
    node_.url = url;
  }

  [[nodiscard]] bool busy() const noexcept { return busy_; }
  [[nodiscard]] const std::set<std::string>& resources() const noexcept { return resources_; }
  [[nodiscard]] NodeLocks take_node() noexcept { return std::move(node_); }

  void find_resources();
  /// `resources` must live until the visit is no longer busy.
  void read_locks(const std::vector<std::string>& resources);

 private:
  void on_auth_result(const redis::AuthResult& result) noexcept override;
  void on_answers(std::vector<OwnedValue> answers) noexcept override;
  void on_end(const std::string& why) noexcept override { fail(why); }
  void on_deadline() noexcept {
    fail(connected_ ? "no answer within " + core::format_duration(limit_)
                    : core::no_connection_within(connect_limit_) + connection_.missing());
  }

  void ask(const redis::Questions& questions);
  void next_page();
  void take_pages(const std::vector<OwnedValue>& answers);
  bool take_page(const OwnedValue& page, Walk& walk);
  void next_locks();
  void take_locks(const OwnedValue& answer);
  void finish();
  void fail(std::string why);

  const LockQuery& query_;
  const nanoseconds connect_limit_;
  const nanoseconds limit_;
  NodeLocks node_;
  std::vector<Walk> walks_;
  std::vector<Walk*> asked_;  // the walks whose pages are under way
  std::size_t keys_seen_ = 0;
  bool asks_marker_ = false;  // whether the first answer is the marker
  std::set<std::string> resources_;
  const std::vector<std::string>* to_read_ = nullptr;
  std::size_t read_ = 0;
  std::size_t reading_ = 0;
  bool busy_ = false;
  bool connected_ = false;
  uv::DeadlineTimer timer_;
  redis::AdminConnection connection_;
};

void Listing::Visit::ask(const redis::Questions& questions) {
  timer_.arm(uv::DeadlineTimer::now() + limit_);
  connection_.ask(questions);
}

void Listing::Visit::finish() {
  busy_ = false;
  timer_.disarm();
}

void Listing::Visit::fail(std::string why) {
  connection_.close();
  node_.problem = std::move(why);
  node_.locks.clear();
  finish();
}

void Listing::Visit::find_resources() {
  busy_ = true;
  timer_.arm(uv::DeadlineTimer::now() + connect_limit_);
  connection_.open();
}

void Listing::Visit::on_auth_result(const redis::AuthResult& result) noexcept {
  connected_ = true;
  if (!result.authentication.empty()) return fail(result.authentication);
  // Keys in another database do not belong to this deployment.
  if (!result.selection.empty()) return fail(result.selection);
  next_page();
}

void Listing::Visit::on_answers(std::vector<OwnedValue> answers) noexcept {
  if (asks_marker_) {
    asks_marker_ = false;
    node_.marker = core::parse_marker(answers.front().text);
    answers.erase(answers.begin());
  }
  for (const OwnedValue& answer : answers) {
    if (answer.is_error()) return fail(redis::visible(answer.text));
  }
  if (to_read_ == nullptr) {
    take_pages(answers);
  } else {
    take_locks(answers.front());
  }
}

void Listing::Visit::next_page() {
  const std::size_t page = std::min(keys_per_page, query_.keys_per_node - keys_seen_);
  const std::string count = std::to_string(page);
  const std::string longest = std::to_string(query_.longest.count());
  redis::Questions questions;
  asks_marker_ = keys_seen_ == 0;
  if (asks_marker_) questions.add({"GET", redis::keys::marker});
  asked_.clear();
  for (Walk& walk : walks_) {
    if (walk.over) continue;
    asked_.push_back(&walk);
    questions.add(redis::scripts::ListResources{.cursor = walk.cursor,
                                                .count = count,
                                                .pattern = walk.pattern,
                                                .longest_ms = longest,
                                                .own_prefix = redis::keys::node_prefix,
                                                .queue_prefix = redis::keys::queue_prefix,
                                                .wanted = walk.wanted});
  }
  if (asked_.empty()) return finish();
  if (page == 0) {
    node_.stopped_early = true;
    return finish();
  }
  keys_seen_ += page;
  ask(questions);
}

void Listing::Visit::take_pages(const std::vector<OwnedValue>& answers) {
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    if (!take_page(answers[i], *asked_[i])) {
      return fail("protocol violation: no page of resources");
    }
  }
  next_page();
}

bool Listing::Visit::take_page(const OwnedValue& page, Walk& walk) {
  const auto& values = page.elements;
  if (values.size() != 4 || values[0].type != Value::Type::bulk || !is_count(values[1]) ||
      !is_count(values[2]) || values[3].type != Value::Type::bulk) {
    return false;
  }
  node_.unread += static_cast<std::size_t>(values[1].integer);
  node_.unread += static_cast<std::size_t>(values[2].integer);
  for (std::string_view texts = values[3].text; !texts.empty();) {
    const auto resource = take_resource(texts);
    if (!resource) return false;
    resources_.emplace(*resource);
  }
  walk.cursor = values[0].text;
  walk.over = walk.cursor == "0";
  return true;
}

void Listing::Visit::read_locks(const std::vector<std::string>& resources) {
  if (!node_.problem.empty()) return;
  busy_ = true;
  to_read_ = &resources;
  next_locks();
}

void Listing::Visit::next_locks() {
  reading_ = std::min(locks_per_question, to_read_->size() - read_);
  if (reading_ == 0) return finish();
  const std::span resources = std::span(*to_read_).subspan(read_, reading_);
  const std::string longest = std::to_string(query_.longest.count());
  const std::string token_bytes = std::to_string(limits::token_bytes);
  redis::Questions questions;
  questions.add(redis::scripts::ListLocks{.resources = {resources.front(), resources.subspan(1)},
                                          .longest_ms = longest,
                                          .token_bytes = token_bytes});
  ask(questions);
}

void Listing::Visit::take_locks(const OwnedValue& answer) {
  std::string_view texts = answer.text;
  for (std::size_t i = 0; i < reading_; ++i) {
    auto lock = take_lock(texts);
    if (!lock) return fail("protocol violation: no list of locks");
    node_.locks.insert_or_assign((*to_read_)[read_++], *std::move(lock));
  }
  next_locks();
}

Listing::Listing(const Configuration& configuration, LockQuery query) : query_(std::move(query)) {
  const auto& settings = configuration.settings;
  for (std::size_t i = 0; i < configuration.targets.size(); ++i) {
    visits_.push_back(std::make_unique<Visit>(loop_.get(), settings.nodes[i],
                                              configuration.targets[i], settings, query_));
  }
}

Listing::~Listing() = default;

void Listing::run_until_idle() { run_while_busy(loop_, visits_); }

std::vector<NodeLocks> Listing::run() {
  for (const auto& visit : visits_) visit->find_resources();
  run_until_idle();
  std::set<std::string> all;
  for (const auto& visit : visits_)
    all.insert(visit->resources().begin(), visit->resources().end());
  const std::vector<std::string> resources(all.begin(), all.end());
  for (const auto& visit : visits_) visit->read_locks(resources);
  run_until_idle();
  std::vector<NodeLocks> nodes;
  nodes.reserve(visits_.size());
  for (const auto& visit : visits_) nodes.push_back(visit->take_node());
  return nodes;
}

}  // namespace redlock::runtime
