#pragma once

#include <string>
#include <utility>

#include "bindings/c/boundary.hpp"
#include "redlock/election.hpp"

/// The types and functions that the blocking and the asynchronous election of redlock.h share.

struct redlock_leadership {
  explicit redlock_leadership(redlock::Leadership made) : leadership(std::move(made)) {}

  redlock::Leadership leadership;
};

namespace redlock::bindings {

struct SeenLeader : View<redlock_leader, Leader> {
  explicit SeenLeader(const Leader& leader) : View(leader), its_token(leader.token.str()) {
    candidate = from.candidate.c_str();
    token = its_token.c_str();
  }

  std::string its_token;
};

[[nodiscard]] ElectionOptions election_options_from(const redlock_election_options* options,
                                                    const Dispatcher& dispatcher);

}  // namespace redlock::bindings
