// Calls every function that the library exports for C++, and awaits whatever can be awaited, on the
// nodes given as arguments. tests/architecture/check_calls compares what this file refers
// to with what the shared library exports.

#include <redlock/deployment.hpp>
#include <redlock/listing.hpp>
#include <redlock/redlock.hpp>

#include <chrono>
#include <coroutine>
#include <cstdlib>
#include <exception>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <typeinfo>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace redlock;

namespace {

int failures = 0;

void expect(bool condition, std::string_view what) {
  if (condition) return;
  std::cerr << "not as expected: " << what << '\n';
  ++failures;
}

/// The value. Without one, nothing that follows makes sense.
template <typename T>
T must(Result<T> result, std::string_view what) {
  if (result) return std::move(*result);
  std::cerr << what << ": " << result.error().message << '\n';
  std::exit(1);
}

const auto soon = [] { return BootClock::now() + 1s; };
const Token nobody = *Token::parse("nobody's");

bool refused(const Result<Round>& report) {
  return !report && report.error().code == Errc::not_holder;
}

// The arguments after the token, by the kinds of face.def.
#define MORE_none
#define MORE_ttl , 9s
#define MORE_delay , BreakOptions()

/// An observer of another module: what the library sees of it is the base.
class Counting : public Observer {
 public:
  void acquire_began(const AcquireObservation& call) noexcept override {
    ++calls;
    Observer::acquire_began(call);
  }
  void acquire_ended(const AcquireObservation& call) noexcept override {
    Observer::acquire_ended(call);
  }
  void hold_began(const HoldObservation& hold) noexcept override { Observer::hold_began(hold); }
  void hold_ended(const HoldObservation& hold) noexcept override { Observer::hold_ended(hold); }
  void lease_lost(const HoldObservation& hold) noexcept override { Observer::lease_lost(hold); }

  int calls = 0;  // on the loop thread; read when the client has been closed
};

struct Stopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The first call on these nodes, because they must store no lock.
void deployment(const ClientOptions& options) {
  const admin::DeploymentCheck before = must(admin::check(options), "check");
  expect(before.nodes.size() == options.nodes.size(), "check: a report for each node");
  admin::ChangeOptions change;
  change.on_progress = [](const admin::ChangeProgress&) { throw Stopped("by the caller"); };
  try {
    (void)must(admin::bootstrap(options, change), "bootstrap");
    expect(before.nodes.at(0).marked, "bootstrap: new nodes are opened step by step");
  } catch (const Stopped& stopped) {
    expect(stopped.what() == std::string("by the caller"), "an exception passes the library");
  }
  (void)must(admin::bootstrap(options), "bootstrap");
  const admin::Membership membership = must(admin::members(options), "members");
  expect(membership.members.size() == options.nodes.size(), "members: all nodes");

  const std::string none = "unix:///no/such/node";
  expect(!admin::add_member(options, "redis://"), "add_member: no node");
  const admin::Membership left =
      must(admin::remove_member(options, none), "remove_member: it was none");
  expect(left.members == membership.members, "remove_member: it was none");
  expect(!admin::replace_member(options, none, none), "replace_member: it is none");
  (void)must(admin::list_locks(options), "list_locks");

  expect(!find_mistake(options), "find_mistake: none");
  expect(find_mistake(ClientOptions{}).has_value(), "find_mistake: no nodes");
  expect(!password_file("/nonexistent")("").has_value(), "password_file: none");
}

void names_and_values() {
  expect(to_string(Errc::held) == "held", "Errc");
  expect(!to_string(Vote::granted).empty(), "Vote");
  expect(to_string(NodeEvent::Level::warning) == "warning", "NodeEvent::Level");
  expect(to_string(NodeEvent::Kind::up) == "up", "NodeEvent::Kind");
  void (*volatile unknown)() = [] {};  // as far as the compiler knows, it may throw
  void (*const called)() = unknown;
  Callback<void()>{called}();
  std::ostringstream out;
  out << Errc::held << Vote::granted << Error{Errc::held, "!"};
  expect(out.str() == "heldgranted!", "operator<<");
  expect(!to_string(admin::MemberReport::State::member).empty(), "MemberReport::State");
  expect(!to_string(admin::NodeCheck::Role::master).empty(), "NodeCheck::Role");
  expect(!to_string(admin::NodeCheck::Persistence::rdb).empty(), "NodeCheck::Persistence");
  expect(!to_string(admin::Finding::Kind::clock).empty(), "Finding::Kind");
  expect(!to_string(Inspection::State::held).empty(), "Inspection::State");
  expect(!to_string(Holder::Kind::exclusive).empty(), "Holder::Kind");
  expect(!to_string(LockKind::exclusive).empty(), "LockKind");
  expect(!to_string(Ownership::held).empty(), "Ownership");
  expect(!to_string(admin::ListedLock::State::held).empty(), "ListedLock::State");
  expect(!to_string(HoldObservation::End::lost).empty(), "HoldObservation::End");
  expect(library_version() == version, "library_version");

  const std::error_code code = Errc::closed;
  expect(code.category() == error_category(), "error_category: one object");
  expect(code == std::errc::operation_canceled, "error_category: compares with std::errc");
  try {
    throw Error{.code = Errc::split, .message = "thrown"};
  } catch (const Error& error) {
    expect(error.code == Errc::split, "an Error is caught");
  }

  const Target words("r");
  const Target view(std::string_view("r"));
  Target text(std::string("r"));
  Target copy(words);
  Target moved(std::move(text));
  copy = view;
  moved = Target(copy);
  expect(moved.resource() == "r" && moved.kind() == Target::Kind::exclusive, "Target: a name");
  expect(shared("r").kind() == Target::Kind::shared, "shared");
  expect(owned("r", "me").owner() == "me", "owned");
  expect(permit("r", 3).permits() == 3, "permit");
  expect(all_of({"a", "b"}).more_resources().size() == 1, "all_of");
  expect(interval("r", 1s).interval() == 1s, "interval");

  std::vector<NodeVote> parts(2);
  parts[1].url = "second";
  NodeVotes reports(parts);
  const NodeVotes again(reports);
  reports = again;
  expect(reports[1].url == "second" && again.at(0).url.empty(), "NodeVotes");
  try {
    (void)reports.at(2);
    expect(false, "NodeVotes::at: past the end");
  } catch (const std::out_of_range&) {
  }
}

void blocking(Client& created) {
  Client other(std::move(created));
  created = std::move(other);
  Client& client = created;

  Lease lease = must(client.acquire("every/1", {.fencing = true}), "acquire");
  Lease place;
  place = std::move(lease);
  lease = Lease(std::move(place));
  expect(lease.valid() && lease.remaining() > 0s && lease.valid_until() > BootClock::now(),
         "a lease");
  expect(lease.resource() == "every/1" && lease.resources().size() == 1, "Lease::resource");
  expect(lease.fencing_token() && !lease.token().empty(), "Lease::token");
  expect(!lease.lost().stop_requested() && !lease.loss() && lease.round().quorum > 0,
         "Lease::report");
  (void)must(lease.extend(9s), "Lease::extend");
  {
    const Lease writer = must(client.acquire("every/written"), "acquire");
    (void)must(writer.downgrade(), "Lease::downgrade");
  }
  expect(!client.try_acquire("every/1"), "try_acquire: it is held");
  expect(!client.try_acquire_for("every/1", 1ms), "try_acquire_for: it is held");
  expect(!client.try_acquire_until("every/1", BootClock::now()), "try_acquire_until: it is held");
  const std::string handed_on = lease.detach().str();
  lease = must(client.adopt(DetachedLease::parse(handed_on).value()), "adopt");
  const Token token = lease.detach().token;
  (void)must(client.extend("every/1", token, 9s), "extend");
  (void)must(client.downgrade("every/1", token), "downgrade");
  expect(client.ownership("every/1", token) == Ownership::held, "ownership");
  expect(must(client.inspect("every/1"), "inspect").state == Inspection::State::held, "inspect");
#define BY_TOKEN(c_name, name, attribute, lock, more, ...) \
  expect(refused(client.name("every/1", nobody MORE_##more)), #name ": not its token");
#include "redlock/face.def"
  (void)must(client.release("every/1", token), "release");
  std::stop_source stop;
  const auto changed = [&](const Inspection&) { stop.request_stop(); };
  expect(client.watch("every/1", changed, stop.get_token()) == 1U, "watch");
  (void)must(must(client.acquire("every/1"), "acquire").release(), "Lease::release");
  Lease reset = must(client.acquire("every/reset"), "acquire");
  reset.reset();
  expect(!reset.valid(), "Lease::reset");
  const std::string text =
      to_prometheus(must(client.metrics(), "metrics"), {{.name = "of", .value = "every"}});
  expect(text.find("redlock_") != std::string::npos, "to_prometheus");

  Election election(client, "every/election", {.candidate = "consumer"});
  Election same(election);
  same = election;
  const Leadership first = must(election.campaign(), "campaign");
  expect(first.term() != FencingToken() && first.valid(), "Leadership");
  expect(Leadership(Lease()).term() == FencingToken(), "Leadership: without a lease");
  expect(must(same.leader(), "leader")->candidate == "consumer", "leader");
  expect(!same.try_campaign(), "try_campaign: there is a leader");
  expect(!same.try_campaign_for(1ms), "try_campaign_for: there is a leader");
  expect(!same.try_campaign_until(BootClock::now()), "try_campaign_until: there is a leader");
  std::stop_source seen;
  const auto leads = [&](const std::optional<Leader>&) { seen.request_stop(); };
  expect(same.observe(leads, seen.get_token()) == 1U, "observe");
}

/// The functions that all mutexes have.
template <typename AnyMutex>
void lock_in_all_ways(AnyMutex& mutex) {
  mutex.lock();
  expect(mutex.valid() && !mutex.lost().stop_requested(), "a mutex");
  mutex.unlock();
  expect(mutex.lock(std::stop_token()), "lock with a stop token");
  mutex.unlock();
  expect(mutex.try_lock(), "try_lock");
  mutex.unlock();
  expect(mutex.try_lock_for(1s), "try_lock_for");
  mutex.unlock();
  expect(mutex.try_lock_until(soon()), "try_lock_until");
  mutex.unlock();
  const std::unique_lock<AnyMutex> lock = must(mutex.try_acquire_for(1s), "try_acquire_for");
  expect(lock.owns_lock(), "try_acquire_for: held");
}

void mutexes(Client& client) {
  Mutex mutex(client, "every/mutex");
  lock_in_all_ways(mutex);
  expect(!mutex.lease().valid(), "Mutex::lease");

  RecursiveMutex recursive(client, "every/recursive");
  lock_in_all_ways(recursive);
  const std::scoped_lock lock(recursive);
  expect(recursive.holds() == 1 && recursive.lease().valid(), "RecursiveMutex::holds");

  SharedMutex many(client, "every/shared");
  lock_in_all_ways(many);
  many.lock_shared();
  many.unlock_shared();
  expect(many.lock_shared(std::stop_token()), "lock_shared with a stop token");
  many.unlock_shared();
  expect(many.try_lock_shared(), "try_lock_shared");
  expect(many.lease().valid(), "SharedMutex::lease");
  many.unlock_shared();
  expect(many.try_lock_shared_for(1s), "try_lock_shared_for");
  many.unlock_shared();
  expect(many.try_lock_shared_until(soon()), "try_lock_shared_until");
  many.unlock_shared();
  const auto read = must(many.try_acquire_shared_for(1s), "try_acquire_shared_for");
  expect(read.owns_lock(), "try_acquire_shared_for: held");
}

/// A callback, and what it was called with.
template <typename T>
class Answer {
 public:
  operator Callback<void(Result<T>)>() {
    return [this](Result<T> result) { promise_.set_value(std::move(result)); };
  }
  Result<T> get() {
    Result<T> result = promise_.get_future().get();
    promise_ = {};
    return result;
  }

 private:
  std::promise<Result<T>> promise_;
};

void with_callbacks(AsyncClient& created) {
  AsyncClient other(std::move(created));
  created = std::move(other);
  AsyncClient& client = created;

  Answer<Lease> granted;
  Answer<Round> done;
  client.acquire("every/2", {}, granted);
  Lease lease = must(granted.get(), "acquire");
  client.try_acquire("every/2", {}, granted);
  expect(!granted.get(), "try_acquire: it is held");
  client.try_acquire_for("every/2", 1ms, {}, granted);
  expect(!granted.get(), "try_acquire_for: it is held");
  client.try_acquire_until("every/2", BootClock::now(), {}, granted);
  expect(!granted.get(), "try_acquire_until: it is held");
  client.cancel(client.acquire("every/2", {}, granted));
  expect(granted.get().error().code == Errc::cancelled, "cancel");
  client.extend(lease, 9s, done);
  (void)must(done.get(), "extend");
  client.downgrade(lease, done);
  (void)must(done.get(), "downgrade");
  client.adopt(lease.detach(), {}, granted);
  lease = must(granted.get(), "adopt");
  client.release(std::move(lease), done);
  (void)must(done.get(), "release");
#define BY_TOKEN(c_name, name, attribute, lock, more, ...) \
  client.name("every/2", nobody MORE_##more, done);        \
  expect(refused(done.get()), #name ": not its token");
#include "redlock/face.def"
  Answer<Inspection> inspected;
  client.inspect("every/2", inspected);
  (void)must(inspected.get(), "inspect");
  Answer<Ownership> owner;
  client.ownership("every/2", nobody, owner);
  expect(owner.get() == Ownership::not_held, "ownership");
  Answer<Metrics> counted;
  client.metrics(counted);
  (void)must(counted.get(), "metrics");
  std::promise<Errc> ended;
  const RequestId watch = client.watch("every/2", {}, [&](const Result<Inspection>& result) {
    if (!result) ended.set_value(result.error().code);
  });
  client.cancel(watch);
  expect(ended.get_future().get() == Errc::cancelled, "watch: ended by cancel");

  AsyncElection election(client, "every/election/2", {.candidate = "consumer"});
  AsyncElection same(election);
  same = election;
  Answer<Leadership> elected;
  election.campaign(elected);
  Leadership leadership = must(elected.get(), "campaign");
  same.try_campaign(elected);
  expect(!elected.get(), "try_campaign: there is a leader");
  same.try_campaign_for(1ms, elected);
  expect(!elected.get(), "try_campaign_for: there is a leader");
  same.try_campaign_until(BootClock::now(), elected);
  expect(!elected.get(), "try_campaign_until: there is a leader");
  Answer<std::optional<Leader>> leads;
  same.leader(leads);
  expect(must(leads.get(), "leader").has_value(), "leader");
  std::promise<Errc> unobserved;
  const RequestId observation = same.observe([&](const Result<std::optional<Leader>>& result) {
    if (!result) unobserved.set_value(result.error().code);
  });
  same.cancel(observation);
  expect(unobserved.get_future().get() == Errc::cancelled, "observe: ended by cancel");
  election.resign(std::move(leadership), done);
  (void)must(done.get(), "resign");

  AsyncMutex mutex(client, "every/mutex/2");
  Answer<AsyncMutexGuard> locked;
  mutex.lock(locked);
  AsyncMutexGuard guard = must(locked.get(), "AsyncMutex::lock");
  AsyncMutexGuard place;
  place = std::move(guard);
  guard = AsyncMutexGuard(std::move(place));
  expect(guard.valid() && guard.lease().valid() && !guard.lost().stop_requested(), "a guard");
  mutex.try_lock(locked);
  expect(!locked.get(), "AsyncMutex::try_lock: it is held");
  mutex.try_lock_for(1ms, locked);
  expect(!locked.get(), "AsyncMutex::try_lock_for: it is held");
  mutex.try_lock_until(BootClock::now(), locked);
  expect(!locked.get(), "AsyncMutex::try_lock_until: it is held");
  mutex.cancel(mutex.lock(locked));
  expect(locked.get().error().code == Errc::cancelled, "AsyncMutex::cancel");
  guard.unlock();
}

/// A coroutine that runs by itself.
struct Running {
  struct promise_type {
    Running get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

/// Resumed by a function of ours.
template <typename Value>
Awaitable<Value> here(Awaitable<Value> call) {
  return std::move(call).via([](std::coroutine_handle<> handle) { handle.resume(); });
}

Running await_client(AsyncClient& client, std::promise<void>& done) {
  const AcquireOptions terms{};
  Lease lease = must(co_await here(client.acquire("every/3")), "acquire");
  expect(!co_await client.try_acquire("every/3"), "try_acquire: it is held");
  expect(!co_await client.try_acquire("every/3", terms), "try_acquire: it is held");
  expect(!co_await client.try_acquire_for("every/3", 1ms), "try_acquire_for: it is held");
  expect(!co_await client.try_acquire_for("every/3", 1ms, terms), "try_acquire_for: it is held");
  const BootClock::time_point now = BootClock::now();
  expect(!co_await client.try_acquire_until("every/3", now), "try_acquire_until: it is held");
  expect(!co_await client.try_acquire_until("every/3", now, terms),
         "try_acquire_until: it is held");
  (void)must(co_await here(client.extend(lease, 9s)), "extend");
  (void)must(co_await here(client.downgrade(lease)), "downgrade");
  lease = must(co_await client.adopt(lease.detach()), "adopt");
  lease = must(co_await client.adopt(lease.detach(), terms), "adopt");
  const Token token = lease.detach().token;
  (void)must(co_await client.extend("every/3", token, 9s), "extend");
  (void)must(co_await client.downgrade("every/3", token), "downgrade");
  const auto ownership = co_await here(client.ownership("every/3", token));
  expect(ownership == Ownership::held, "ownership");
  (void)must(co_await client.release("every/3", token), "release");
  std::stop_source cancelled;
  cancelled.request_stop();
  const auto none = co_await client.acquire("every/3", terms, cancelled.get_token());
  expect(!none && none.error().code == Errc::cancelled, "acquire: a stop request");
  lease = must(co_await client.acquire("every/3", terms), "acquire");
  (void)must(co_await client.release(std::move(lease)), "release");
#define BY_TOKEN(c_name, name, attribute, lock, more, ...) \
  expect(refused(co_await client.name("every/3", nobody MORE_##more)), #name ": not its token");
#include "redlock/face.def"
  const auto inspection = co_await here(client.inspect("every/3"));
  expect(inspection && inspection->state == Inspection::State::free, "inspect");
  std::stop_source stop;
  std::function<void(const Inspection&)> changed = [&](const Inspection&) { stop.request_stop(); };
  auto watch = client.watch("every/3", std::move(changed), stop.get_token());
  const auto watched = co_await here(std::move(watch));
  expect(watched == 1U, "watch");
  (void)must(co_await here(client.metrics()), "metrics");
  done.set_value();
}

Running await_election(AsyncClient& client, std::promise<void>& done) {
  ElectionOptions candidate;
  candidate.candidate = "consumer";
  AsyncElection election(client, "every/election/3", candidate);
  Leadership leadership = must(co_await here(election.campaign()), "campaign");
  expect(!co_await election.try_campaign(), "try_campaign: there is a leader");
  expect(!co_await election.try_campaign_for(1ms), "try_campaign_for: there is a leader");
  const auto late = co_await election.try_campaign_until(BootClock::now());
  expect(!late, "try_campaign_until: there is a leader");
  const auto leader = co_await here(election.leader());
  expect(leader && leader->has_value(), "leader");
  std::stop_source stop;
  std::function<void(const std::optional<Leader>&)> changed = [&](const std::optional<Leader>&) {
    stop.request_stop();
  };
  const auto observed = co_await election.observe(std::move(changed), stop.get_token());
  expect(observed == 1U, "observe");
  (void)must(co_await election.resign(std::move(leadership)), "resign");
  done.set_value();
}

Running await_mutex(AsyncClient& client, std::promise<void>& done) {
  AsyncMutex mutex(client, "every/mutex/3");
  const AsyncMutexGuard guard = must(co_await here(mutex.lock()), "AsyncMutex::lock");
  expect(!co_await mutex.try_lock(), "AsyncMutex::try_lock: it is held");
  expect(!co_await mutex.try_lock_for(1ms), "AsyncMutex::try_lock_for: it is held");
  const auto late = co_await mutex.try_lock_until(BootClock::now());
  expect(!late, "AsyncMutex::try_lock_until: it is held");
  done.set_value();
}

Running await_close(AsyncClient& client, std::promise<void>& done) {
  const auto report = co_await here(client.close());
  expect(report && report->undelivered.empty(), "close: to be awaited");
  done.set_value();
}

void wait_for(Running (*coroutine)(AsyncClient&, std::promise<void>&), AsyncClient& client) {
  std::promise<void> done;
  coroutine(client, done);
  done.get_future().get();
}

}  // namespace

int main(int argc, char** argv) {
  ClientOptions options;
  options.nodes.assign(argv + 1, argv + argc);
  deployment(options);
  names_and_values();

  options.guards.restart = false;  // they were started a moment ago, for this
  const auto observer = std::make_shared<Counting>();
  options.observer = observer;
  Client client = must(Client::create(options), "create");
  blocking(client);
  mutexes(client);
  expect(must(client.close(), "close").undelivered.empty(), "close");
  try {
    Mutex(client, "every/closed").lock();
    expect(false, "Mutex::lock: the client is closed");
  } catch (const std::system_error& error) {
    expect(error.code() == Errc::closed, "Mutex::lock: says that the client is closed");
  }
  const std::shared_ptr<Observer> base = observer;
  expect(dynamic_cast<Counting*>(base.get()) == observer.get(), "Observer: dynamic_cast");
  const Observer& itself = *base;
  expect(typeid(itself) == typeid(Counting), "Observer: typeid");
  expect(observer->calls > 0, "Observer: is notified");
  options.observer = std::make_shared<Observer>();

  AsyncClient async = must(AsyncClient::create(options), "create");
  with_callbacks(async);
  wait_for(await_client, async);
  wait_for(await_election, async);
  wait_for(await_mutex, async);
  wait_for(await_close, async);
  AsyncClient second = must(AsyncClient::create(options, nullptr), "create: no loop of ours");
  std::promise<std::size_t> undelivered;
  second.close(
      [&](const CloseReport& report) { undelivered.set_value(report.undelivered.size()); });
  expect(undelivered.get_future().get() == 0, "close");

  if (failures > 0) return 1;
  std::cout << "every function called\n";
  return 0;
}
