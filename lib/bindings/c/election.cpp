#include "redlock/election.hpp"

#include <memory>

#include "bindings/c/boundary.hpp"
#include "bindings/c/elections.hpp"

struct redlock_election {
  explicit redlock_election(const redlock::Election& made) : election(made) {}

  redlock::Election election;
};

namespace redlock::bindings {
namespace {

[[nodiscard]] redlock_election_options default_election_options() {
  const ElectionOptions from;
  redlock_election_options options{};
  options.size = sizeof(options);
  options.ttl_ns = to_ns(from.ttl);
  options.poll_interval_ns = to_ns(from.poll_interval);
  return options;
}
static_assert(offsetof(redlock_election_options, free_context) + sizeof(void*) ==
              sizeof(redlock_election_options));

}  // namespace

ElectionOptions election_options_from(const redlock_election_options* options,
                                      const Dispatcher& dispatcher) {
  const redlock_election_options read =
      read_sized(required(options, "options"), default_election_options(), "options");
  const auto context = keep_context(read.context, read.free_context);
  ElectionOptions to;
  to.candidate = text_or_empty(read.candidate);
  to.ttl = from_ns(read.ttl_ns);
  to.poll_interval = from_ns(read.poll_interval_ns);
  if (read.on_at_risk != nullptr) {
    to.on_at_risk = at_risk_callback(context, read.on_at_risk, dispatcher);
  }
  if (read.on_lost != nullptr) to.on_lost = loss_callback(context, read.on_lost, dispatcher);
  return to;
}

namespace {

void set(std::uint64_t* out, std::uint64_t number) noexcept {
  if (out != nullptr) *out = number;
}

}  // namespace
}  // namespace redlock::bindings

redlock_status redlock_watch(redlock_client* client, const char* resource, int64_t poll_interval_ns,
                             void (*changed)(void* context, const redlock_inspection* inspection),
                             void* context, const redlock_stop* stop, uint64_t* changes,
                             redlock_error** error) {
  bound::set(changes, 0);
  return bound::guarded(error, [&] {
    auto& caller = bound::required(client, "client").client;
    redlock::WatchOptions options;
    if (poll_interval_ns != 0) options.poll_interval = bound::from_ns(poll_interval_ns);
    static_cast<void>(bound::required(resource, "resource"));
    if (changed == nullptr) throw bound::refusal("changed is NULL");
    const auto tell = [&](const redlock::Inspection& inspection) {
      const std::unique_ptr<redlock_inspection, decltype(&redlock_inspection_free)> seen(
          bound::make_inspection(inspection), redlock_inspection_free);
      changed(context, seen.get());
    };
    bound::set(changes, bound::unwrapped(
                            caller.watch(resource, tell, bound::stop_token_from(stop), options)));
  });
}

void redlock_election_options_init(redlock_election_options* options, size_t size) {
  bound::write_sized(options, size, bound::default_election_options());
}

redlock_status redlock_election_create(redlock_client* client, const char* name,
                                       const redlock_election_options* options,
                                       redlock_election** election, redlock_error** error) {
  bound::clear(election);
  return bound::guarded(error, [&] {
    auto read = bound::election_options_from(options, bound::dispatcher_in(client));
    auto*& out = bound::required_out(election, "election");
    auto& caller = bound::required(client, "client").client;
    out = bound::new_object<redlock_election>(
        redlock::Election(caller, bound::required_text(name, "name"), std::move(read)));
  });
}

void redlock_election_free(redlock_election* election) {
  bound::dispose<redlock_election>(election);
}

redlock_status redlock_election_campaign(redlock_election* election, const redlock_stop* stop,
                                         redlock_leadership** leadership, redlock_error** error) {
  return redlock_election_try_campaign_for(election, REDLOCK_FOREVER, stop, leadership, error);
}

redlock_status redlock_election_try_campaign(redlock_election* election,
                                             redlock_leadership** leadership,
                                             redlock_error** error) {
  return redlock_election_try_campaign_for(election, 0, nullptr, leadership, error);
}

redlock_status redlock_election_try_campaign_for(redlock_election* election, int64_t wait_ns,
                                                 const redlock_stop* stop,
                                                 redlock_leadership** leadership,
                                                 redlock_error** error) {
  bound::clear(leadership);
  return bound::guarded(error, [&] {
    auto*& out = bound::required_out(leadership, "leadership");
    auto& candidate = bound::required(election, "election").election;
    out = bound::new_object<redlock_leadership>(bound::unwrapped(
        candidate.try_campaign_for(bound::from_ns(wait_ns), bound::stop_token_from(stop))));
  });
}

uint64_t redlock_leadership_term(const redlock_leadership* leadership) {
  return leadership == nullptr ? 0 : leadership->leadership.term().value();
}

bool redlock_leadership_valid(const redlock_leadership* leadership) {
  return leadership != nullptr && leadership->leadership.valid();
}

bool redlock_leadership_lost(const redlock_leadership* leadership) {
  return bound::asked_of(
      [&] { return bound::required(leadership, "leadership").leadership.lost().stop_requested(); });
}

redlock_status redlock_leadership_resign(redlock_leadership* leadership, redlock_round** round,
                                         redlock_error** error) {
  return bound::guarded_round(leadership, "leadership", round, error,
                              [](redlock_leadership& held) { return held.leadership.resign(); });
}

void redlock_leadership_free(redlock_leadership* leadership) {
  bound::dispose<redlock_leadership>(leadership);
}

redlock_status redlock_election_leader(redlock_election* election, redlock_leader** leader,
                                       redlock_error** error) {
  return bound::guarded(error, [&] {
    auto*& out = bound::required_out(leader, "leader");
    auto& observer = bound::required(election, "election").election;
    const auto now = bound::unwrapped(observer.leader());
    if (now) out = bound::new_object<bound::SeenLeader>(*now);
  });
}

void redlock_leader_free(redlock_leader* leader) { bound::dispose<bound::SeenLeader>(leader); }

redlock_status redlock_election_observe(
    redlock_election* election, void (*changed)(void* context, const redlock_leader* leader),
    void* context, const redlock_stop* stop, uint64_t* changes, redlock_error** error) {
  bound::set(changes, 0);
  return bound::guarded(error, [&] {
    auto& observer = bound::required(election, "election").election;
    if (changed == nullptr) throw bound::refusal("changed is NULL");
    const auto tell = [&](const std::optional<redlock::Leader>& leader) {
      if (!leader) return changed(context, nullptr);
      const bound::SeenLeader seen(*leader);
      changed(context, &seen);
    };
    bound::set(changes, bound::unwrapped(observer.observe(tell, bound::stop_token_from(stop))));
  });
}
