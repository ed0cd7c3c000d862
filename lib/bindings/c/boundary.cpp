#include "bindings/c/boundary.hpp"

namespace redlock::bindings {
namespace {

redlock_error memory_failure{REDLOCK_NO_MEMORY, "no memory is left", "", nullptr};

/// Reports a failure whose status has no Errc.
redlock_status internal_failure(const char* what, redlock_error** out) noexcept {
  if (out == nullptr) return REDLOCK_INTERNAL;
  *out = no_memory();
  try {
    *out = make_failure(Error{Errc::invalid_argument, std::string("internal: ") + what});
  } catch (...) {
    return REDLOCK_NO_MEMORY;
  }
  if (*out == no_memory()) return REDLOCK_NO_MEMORY;
  (*out)->status = REDLOCK_INTERNAL;
  return REDLOCK_INTERNAL;
}

}  // namespace

RoundView::RoundView(Round given) : View(std::move(given)) {
  quorum = from.quorum;
  ttl_ns = to_ns(from.ttl);
  elapsed_ns = to_ns(from.elapsed);
  remaining_ns = to_ns(from.remaining);
  holds_left = from.holds_left ? std::int64_t{*from.holds_left} : -1;
  node_count = from.nodes.size();
  votes.reserve(from.nodes.size());
  for (const NodeVote& node : from.nodes) {
    redlock_node_vote vote{};
    vote.url = node.url.c_str();
    vote.vote = static_cast<redlock_vote>(node.vote);
    vote.round_trip_ns = node.round_trip ? to_ns(*node.round_trip) : -1;
    vote.remaining_ns = node.remaining ? to_ns(*node.remaining) : -1;
    vote.message = node.message.c_str();
    if (node.holder) {
      vote.holder_kind = static_cast<redlock_holder_kind>(node.holder->kind) + 1;
      vote.holder = tokens.add(node.holder->token);
      vote.owner = text_or_null(node.holder->owner);
    }
    votes.push_back(vote);
  }
}

Failure::Failure(Error given) : View(std::move(given)), last_round(std::move(from.round)) {
  status = static_cast<redlock_status>(from.code);
  message = from.message.c_str();
  holder_name = from.holder_name.c_str();
  round = last_round.from.nodes.empty() ? nullptr : &last_round;
}

redlock_error* no_memory() noexcept { return &memory_failure; }

redlock_error* make_failure(Error error) noexcept {
  try {
    return new_object<Failure>(std::move(error));
  } catch (...) {
    return no_memory();
  }
}

redlock_status status_of(Error error, redlock_error** out) noexcept {
  const auto status = static_cast<redlock_status>(error.code);
  if (out != nullptr) *out = make_failure(std::move(error));
  return status;
}

redlock_status status_of_exception(redlock_error** out) noexcept {
  try {
    throw;
  } catch (Error& error) {
    return status_of(std::move(error), out);
  } catch (const std::bad_alloc&) {
    if (out != nullptr) *out = no_memory();
    return REDLOCK_NO_MEMORY;
  } catch (const std::exception& error) {
    return internal_failure(error.what(), out);
  } catch (...) {
    return internal_failure("an exception of an unknown type", out);
  }
}

redlock_round* make_round(Round round) { return new_object<RoundView>(std::move(round)); }

void hand_out(Round round, redlock_round** out) {
  if (out != nullptr) *out = make_round(std::move(round));
}

Token token_from(const char* token) {
  const auto parsed = Token::parse(&required(token, "token"));
  if (!parsed) {
    throw refusal("token has " + std::to_string(std::strlen(token)) + " bytes: 1 to " +
                  std::to_string(limits::token_bytes) + " are allowed");
  }
  return *parsed;
}

DetachedLease detached_from(const char* detached) {
  auto parsed = DetachedLease::parse(&required(detached, "detached"));
  if (!parsed) throw refusal("detached: it is nothing that redlock_lease_detach returned");
  return *std::move(parsed);
}

std::shared_ptr<void> keep_context(void* context, void (*free_context)(void*)) {
  return {context, [free_context](void* kept) {
            if (free_context != nullptr) free_context(kept);
          }};
}

Dispatcher dispatcher_of(const redlock_client_options* options) {
  const redlock_client_options read =
      read_sized(required(options, "options"), redlock_client_options{}, "options");
  return read.dispatcher == nullptr ? Dispatcher() : read.dispatcher->jobs;
}

std::stop_token stop_token_from(const redlock_stop* stop) noexcept {
  return stop == nullptr ? std::stop_token() : stop->source.get_token();
}

}  // namespace redlock::bindings

REDLOCK_PART(redlock_round_node, redlock_round, RoundView, votes)

void redlock_round_free(redlock_round* round) { bound::dispose<bound::RoundView>(round); }

void redlock_error_free(redlock_error* error) {
  if (error != bound::no_memory()) {
    bound::dispose<bound::Failure>(error);
  }
}

redlock_stop* redlock_stop_new() {
  try {
    return bound::new_object<redlock_stop>();
  } catch (...) {
    return nullptr;
  }
}

void redlock_stop_request(redlock_stop* stop) {
  if (stop != nullptr) stop->source.request_stop();
}

bool redlock_stop_requested(const redlock_stop* stop) {
  return stop != nullptr && stop->source.stop_requested();
}

void redlock_stop_free(redlock_stop* stop) { bound::dispose<redlock_stop>(stop); }

redlock_dispatcher* redlock_dispatcher_new() {
  redlock_dispatcher* made = nullptr;
  bound::guarded(nullptr, [&] { made = bound::new_object<redlock_dispatcher>(); });
  return made;
}

void redlock_dispatcher_run(redlock_dispatcher* dispatcher) {
  if (dispatcher != nullptr) dispatcher->jobs->run();
}

void redlock_dispatcher_stop(redlock_dispatcher* dispatcher) {
  if (dispatcher != nullptr) dispatcher->jobs->stop();
}

void redlock_dispatcher_free(redlock_dispatcher* dispatcher) {
  bound::dispose<redlock_dispatcher>(dispatcher);
}
