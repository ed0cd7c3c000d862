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
  redlock::bindings::set(changes, 0);
  return redlock::bindings::guarded(error, [&] {
    auto& caller = redlock::bindings::required(client, "client").client;
    redlock::WatchOptions options;
    if (poll_interval_ns != 0) options.poll_interval = redlock::bindings::from_ns(poll_interval_ns);
    static_cast<void>(redlock::bindings::required(resource, "resource"));
    if (changed == nullptr) throw redlock::bindings::refusal("changed is NULL");
    const auto tell = [&](const redlock::Inspection& inspection) {
      const std::unique_ptr<redlock_inspection, decltype(&redlock_inspection_free)> seen(
          redlock::bindings::make_inspection(inspection), redlock_inspection_free);
      changed(context, seen.get());
    };
    redlock::bindings::set(changes,
                           redlock::bindings::unwrapped(caller.watch(
                               resource, tell, redlock::bindings::stop_token_from(stop), options)));
  });
}

void redlock_election_options_init(redlock_election_options* options, size_t size) {
  redlock::bindings::write_sized(options, size, redlock::bindings::default_election_options());
}

redlock_status redlock_election_create(redlock_client* client, const char* name,
                                       const redlock_election_options* options,
                                       redlock_election** election, redlock_error** error) {
  redlock::bindings::clear(election);
  return redlock::bindings::guarded(error, [&] {
    auto read =
        redlock::bindings::election_options_from(options, redlock::bindings::dispatcher_in(client));
    auto*& out = redlock::bindings::required_out(election, "election");
    auto& caller = redlock::bindings::required(client, "client").client;
    out = redlock::bindings::new_object<redlock_election>(
        redlock::Election(caller, redlock::bindings::required_text(name, "name"), std::move(read)));
  });
}

void redlock_election_free(redlock_election* election) {
  redlock::bindings::dispose<redlock_election>(election);
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
  redlock::bindings::clear(leadership);
  return redlock::bindings::guarded(error, [&] {
    auto*& out = redlock::bindings::required_out(leadership, "leadership");
    auto& candidate = redlock::bindings::required(election, "election").election;
    out = redlock::bindings::new_object<redlock_leadership>(
        redlock::bindings::unwrapped(candidate.try_campaign_for(
            redlock::bindings::from_ns(wait_ns), redlock::bindings::stop_token_from(stop))));
  });
}

uint64_t redlock_leadership_term(const redlock_leadership* leadership) {
  return leadership == nullptr ? 0 : leadership->leadership.term().value();
}

bool redlock_leadership_valid(const redlock_leadership* leadership) {
  return leadership != nullptr && leadership->leadership.valid();
}

bool redlock_leadership_lost(const redlock_leadership* leadership) {
  bool lost = false;
  redlock::bindings::guarded(nullptr, [&] {
    lost = redlock::bindings::required(leadership, "leadership").leadership.lost().stop_requested();
  });
  return lost;
}

redlock_status redlock_leadership_resign(redlock_leadership* leadership, redlock_round** round,
                                         redlock_error** error) {
  redlock::bindings::clear(round);
  return redlock::bindings::guarded(error, [&] {
    auto& leader = redlock::bindings::required(leadership, "leadership").leadership;
    redlock::bindings::hand_out(redlock::bindings::unwrapped(leader.resign()), round);
  });
}

void redlock_leadership_free(redlock_leadership* leadership) {
  redlock::bindings::dispose<redlock_leadership>(leadership);
}

redlock_status redlock_election_leader(redlock_election* election, redlock_leader** leader,
                                       redlock_error** error) {
  return redlock::bindings::guarded(error, [&] {
    auto*& out = redlock::bindings::required_out(leader, "leader");
    auto& observer = redlock::bindings::required(election, "election").election;
    const auto now = redlock::bindings::unwrapped(observer.leader());
    if (now) out = redlock::bindings::new_object<redlock::bindings::SeenLeader>(*now);
  });
}

void redlock_leader_free(redlock_leader* leader) {
  redlock::bindings::dispose<redlock::bindings::SeenLeader>(leader);
}

redlock_status redlock_election_observe(
    redlock_election* election, void (*changed)(void* context, const redlock_leader* leader),
    void* context, const redlock_stop* stop, uint64_t* changes, redlock_error** error) {
  redlock::bindings::set(changes, 0);
  return redlock::bindings::guarded(error, [&] {
    auto& observer = redlock::bindings::required(election, "election").election;
    if (changed == nullptr) throw redlock::bindings::refusal("changed is NULL");
    const auto tell = [&](const std::optional<redlock::Leader>& leader) {
      if (!leader) return changed(context, nullptr);
      const redlock::bindings::SeenLeader seen(*leader);
      changed(context, &seen);
    };
    redlock::bindings::set(changes, redlock::bindings::unwrapped(observer.observe(
                                        tell, redlock::bindings::stop_token_from(stop))));
  });
}
