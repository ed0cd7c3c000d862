#include "redlock/async_election.hpp"

#include <optional>

#include "bindings/c/answers.hpp"
#include "bindings/c/boundary.hpp"
#include "bindings/c/elections.hpp"

struct redlock_async_election {
  redlock_async_election(const redlock::AsyncElection& made, bound::Dispatcher callbacks)
      : election(made), dispatcher(std::move(callbacks)) {}

  redlock::AsyncElection election;
  bound::Dispatcher dispatcher;
};

namespace redlock::bindings {
namespace {

[[nodiscard]] AsyncElection& candidate(redlock_async_election* election) {
  return required(election, "election").election;
}

[[nodiscard]] redlock_leader* make_leader(const std::optional<Leader>& leader) {
  return leader ? new_object<SeenLeader>(*leader) : nullptr;
}

}  // namespace
}  // namespace redlock::bindings

redlock_status redlock_async_election_create(redlock_async* client, const char* name,
                                             const redlock_election_options* options,
                                             redlock_async_election** election,
                                             redlock_error** error) {
  bound::clear(election);
  return bound::guarded(error, [&] {
    auto read = bound::election_options_from(options, bound::dispatcher_in(client));
    auto*& out = bound::required_out(election, "election");
    out = bound::new_object<redlock_async_election>(
        redlock::AsyncElection(bound::asked(client), bound::required_text(name, "name"),
                               std::move(read)),
        bound::dispatcher_in(client));
  });
}

void redlock_async_election_free(redlock_async_election* election) {
  bound::dispose<redlock_async_election>(election);
}

redlock_request redlock_async_election_campaign(redlock_async_election* election,
                                                redlock_leadership_done done, void* context) {
  return redlock_async_election_try_campaign_for(election, REDLOCK_FOREVER, done, context);
}

redlock_request redlock_async_election_try_campaign(redlock_async_election* election,
                                                    redlock_leadership_done done, void* context) {
  return redlock_async_election_try_campaign_for(election, 0, done, context);
}

redlock_request redlock_async_election_try_campaign_for(redlock_async_election* election,
                                                        int64_t wait_ns,
                                                        redlock_leadership_done done,
                                                        void* context) {
  const bound::Answer answer{done, context};
  return bound::begin(answer, [&] {
    return bound::candidate(election).try_campaign_for(
        bound::from_ns(wait_ns),
        bound::answering<redlock::Leadership>(
            election->dispatcher, answer, [](redlock::Leadership leadership) {
              return bound::new_object<redlock_leadership>(std::move(leadership));
            }));
  });
}

void redlock_async_election_resign(redlock_async_election* election, redlock_leadership* leadership,
                                   redlock_round_done done, void* context) {
  const std::unique_ptr<redlock_leadership> owned(leadership);
  const bound::Answer answer{done, context};
  bound::begin(answer, [&] {
    auto& leader = bound::required(owned.get(), "leadership").leadership;
    bound::candidate(election).resign(
        std::move(leader),
        bound::answering<redlock::Round>(election->dispatcher, answer, bound::make_round));
  });
}

void redlock_async_election_leader(redlock_async_election* election, redlock_leader_done done,
                                   void* context) {
  const bound::Answer answer{done, context};
  bound::begin(answer, [&] {
    bound::candidate(election).leader(bound::answering<std::optional<redlock::Leader>>(
        election->dispatcher, answer, bound::make_leader));
  });
}

redlock_request redlock_async_election_observe(redlock_async_election* election,
                                               redlock_leader_done changed, void* context) {
  const bound::Answer answer{changed, context};
  return bound::begin(answer, [&] {
    static_cast<void>(bound::required(changed, "changed"));
    return bound::candidate(election).observe(bound::answering<std::optional<redlock::Leader>>(
        election->dispatcher, answer, bound::make_leader));
  });
}
