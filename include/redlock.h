#ifndef REDLOCK_H
#define REDLOCK_H

/// redlock for C, and for the foreign function interfaces of other languages: C11, and C++ too.
/// tools/docs/C.md has an example. The comments of the C++ headers (redlock/client.hpp, …) say more
/// about what the calls promise; this file says what is different in C.
///
/// Errors: a function that can fail returns a `redlock_status`, REDLOCK_OK or why it failed, and
/// sets `*error` to an error with the message for people, or to NULL. `error` may be NULL, which
/// leaves the status alone. Results are set on success only, and to NULL or zero on failure.
/// NULL for a required argument is refused with REDLOCK_INVALID_ARGUMENT. Nothing is thrown; a
/// callback that is written in C++ must not throw, either.
///
/// Ownership: what a function returns through a pointer to a pointer is the caller's, who ends it
/// with the `_free` function of its type; `_free(NULL)` does nothing. Everything that is reached
/// through a `const` pointer belongs to the object that it was read from, and ends with it.
///
/// Versions: this interface only grows. Options begin with their size, which `_init` writes: the
/// library reads only the members within that size. The library makes results, and programs reach
/// them by pointers, and lists of structs by index, so that structs can grow at their ends. Do not
/// copy results by value. Enumerations are `int32_t`, because the width of an enum is the
/// compiler's choice; be ready for values that this header does not have.
///
/// Strings are UTF-8 where people write them, end with a NUL, and are never NULL in results unless
/// the comment says so. The library copies those that it is given. A token, resource or holder of
/// another Redlock client that contains a NUL ends there.
///
/// Durations are nanoseconds, in names that end with `_ns`.
///
/// Threads: every function may be called from any thread, and any number of threads may use one
/// client, stop or election at once. For a lease or a leadership, this holds for the functions that
/// take it as `const`; its other functions and every `_free` need exclusive use of the object.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define REDLOCK_C_EXPORT __attribute__((visibility("default")))
/// A function whose result says whether the lock is there: the compiler warns if it is ignored.
#define REDLOCK_C_CHECKED REDLOCK_C_EXPORT __attribute__((warn_unused_result))
#else
#define REDLOCK_C_EXPORT
#define REDLOCK_C_CHECKED
#endif

/// A duration that never ends: wait until granted or stopped.
#define REDLOCK_FOREVER INT64_MAX

#ifdef __cplusplus
extern "C" {
#endif

// --- Outcomes ---

/// The outcome of a call.
typedef int32_t redlock_status;
enum {
  REDLOCK_OK = 0,
  REDLOCK_HELD = 1,               ///< a majority has another holder: wait
  REDLOCK_SPLIT = 2,              ///< contenders divided the nodes and none has a majority
  REDLOCK_UNAVAILABLE = 3,        ///< too few nodes answered; the votes say which and why
  REDLOCK_EXPIRED = 4,            ///< a quorum granted, too late for a valid lease: raise the TTL
  REDLOCK_EXCLUDED = 5,           ///< guards leave too few voters; the votes say which and why
  REDLOCK_NOT_HOLDER = 6,         ///< the lock is not, or no longer, this token's
  REDLOCK_CANCELLED = 7,          ///< the caller cancelled
  REDLOCK_CLOSED = 8,             ///< the client is closed
  REDLOCK_FORKED = 9,             ///< the client belongs to the parent process
  REDLOCK_WOULD_BLOCK = 10,       ///< a blocking call inside a callback would wait for itself
  REDLOCK_INVALID_ARGUMENT = 11,  ///< nothing was sent; the message names the argument
  REDLOCK_LIMIT_REACHED = 12,     ///< a limit of the library; the message names it
  REDLOCK_NO_MEMORY = 1000,       ///< the memory is exhausted
  REDLOCK_INTERNAL = 1001         ///< a mistake in this library; the message says which
};

/// "held"; "ok" for REDLOCK_OK; "unknown" for a number that is not a status.
REDLOCK_C_EXPORT const char* redlock_status_name(redlock_status status);

/// The answer of one node in one round.
typedef int32_t redlock_vote;
enum {
  REDLOCK_VOTE_PENDING = 0,      ///< had not answered when the round was decided
  REDLOCK_VOTE_GRANTED = 1,      ///< our key was set, extended or deleted
  REDLOCK_VOTE_REFUSED = 2,      ///< the resource has another holder there, or is no longer ours
  REDLOCK_VOTE_TIMEOUT = 3,      ///< no answer within the node's time limit
  REDLOCK_VOTE_UNREACHABLE = 4,  ///< no connection
  REDLOCK_VOTE_ERROR = 5,        ///< the node answered with an error
  REDLOCK_VOTE_EXCLUDED = 6      ///< a guard does not let it vote
};

/// "granted"; "unknown" for a number that is not a vote.
REDLOCK_C_EXPORT const char* redlock_vote_name(redlock_vote vote);

/// The reason why a node refused a request: who or what has the resource there. See Holder.
typedef int32_t redlock_holder_kind;
enum {
  REDLOCK_HOLDER_NONE = 0,       ///< the node did not refuse, or gave no reason
  REDLOCK_HOLDER_EXCLUSIVE = 1,  ///< the holder of the token
  REDLOCK_HOLDER_SHARED = 2,     ///< readers
  REDLOCK_HOLDER_OWNED = 3,      ///< the holds of one owner
  REDLOCK_HOLDER_INTERVAL = 4,   ///< no holder, but taken until the interval is over
  REDLOCK_HOLDER_RESERVED = 5,   ///< no holder, but reserved for the client that is next
  REDLOCK_HOLDER_OTHER = 6,      ///< a key that is not a lock
  REDLOCK_HOLDER_WRITER = 7      ///< somebody waits, and new holds are refused meanwhile
};
/// "exclusive"; "unknown" for a number that is not a kind.
REDLOCK_C_EXPORT const char* redlock_holder_kind_name(redlock_holder_kind kind);

/// One node's part in a round.
typedef struct redlock_node_vote {
  const char* url;  ///< as configured, without the password
  redlock_vote vote;
  redlock_holder_kind holder_kind;  ///< refused: the reason
  int64_t round_trip_ns;            ///< -1: there was no answer
  const char* holder;               ///< exclusive: the stored token; else NULL
  const char* owner;                ///< owned: the name of the owner; else NULL
  int64_t remaining_ns;             ///< refused: the rest of the holder's TTL; -1: not known
  const char* message;              ///< timeout, unreachable, error, excluded: why
} redlock_node_vote;

/// The round that decided an operation.
typedef struct redlock_round {
  uint64_t quorum;
  int64_t ttl_ns;        ///< the requested TTL
  int64_t elapsed_ns;    ///< from the first byte of the call's first round to the decision
  int64_t remaining_ns;  ///< the time left of the lease at the decision; 0 without a lease
  int64_t holds_left;    ///< release of a shared or owned hold: holds that remain; -1: not known
  uint64_t node_count;
} redlock_round;

/// The vote of node `i`, in the order in which they were configured. NULL past the end.
REDLOCK_C_EXPORT const redlock_node_vote* redlock_round_node(const redlock_round* round, size_t i);
REDLOCK_C_EXPORT void redlock_round_free(redlock_round* round);

/// Why an operation failed.
typedef struct redlock_error {
  redlock_status status;
  const char* message;         ///< one line, for people
  const char* holder_name;     ///< the holder's name for people; "": not known, see `name_holders`
  const redlock_round* round;  ///< the last round, with every node's vote; NULL if none was sent
} redlock_error;

/// Frees the error and its round.
REDLOCK_C_EXPORT void redlock_error_free(redlock_error* error);

/// The version of the library that is loaded: "1.2.3".
REDLOCK_C_EXPORT const char* redlock_version(void);

/// The clock of `redlock_lease_valid_until_ns`. It counts on while the machine is suspended.
REDLOCK_C_EXPORT int64_t redlock_now_ns(void);

// --- Cancellation ---

/// Ends calls that wait. A stop may serve any number of calls, and may be freed while they go on,
/// because a call keeps what it needs of it.
typedef struct redlock_stop redlock_stop;

/// Returns NULL if there is no memory.
REDLOCK_C_EXPORT redlock_stop* redlock_stop_new(void);
/// Ends the calls that were given the stop, now and later. Can be called on any thread, but not in
/// a signal handler.
REDLOCK_C_EXPORT void redlock_stop_request(redlock_stop* stop);
/// Whether the stop was requested.
REDLOCK_C_EXPORT bool redlock_stop_requested(const redlock_stop* stop);
REDLOCK_C_EXPORT void redlock_stop_free(redlock_stop* stop);

// --- Callbacks on a thread of the caller's ---

/// A queue in which the callbacks of clients wait for a thread of the program's. For languages
/// whose callbacks need a lock of their interpreter: the client's loop thread, on which leases are
/// renewed, must never wait for such a lock. Any number of clients may share a dispatcher; they
/// keep what they need of it.
typedef struct redlock_dispatcher redlock_dispatcher;

/// Returns NULL if there is no memory.
REDLOCK_C_EXPORT redlock_dispatcher* redlock_dispatcher_new(void);
/// Runs the callbacks that wait and those that come, in their order, on the calling thread, until
/// redlock_dispatcher_stop. One thread at a time may call it. The callbacks may block, and may make
/// blocking calls.
REDLOCK_C_EXPORT void redlock_dispatcher_run(redlock_dispatcher* dispatcher);
/// Ends redlock_dispatcher_run after the callbacks that wait already, now and later.
REDLOCK_C_EXPORT void redlock_dispatcher_stop(redlock_dispatcher* dispatcher);
/// Must not be called while redlock_dispatcher_run runs. Callbacks that wait or come later are not
/// called: the answers are freed, and leases with them released.
REDLOCK_C_EXPORT void redlock_dispatcher_free(redlock_dispatcher* dispatcher);

// --- Targets ---

/// The kind of a lock.
typedef int32_t redlock_target_kind;
enum {
  REDLOCK_TARGET_EXCLUSIVE = 0,  ///< one holder
  REDLOCK_TARGET_SHARED = 1,     ///< many readers or one writer
  REDLOCK_TARGET_OWNED = 2,      ///< any number of holds of one owner
  REDLOCK_TARGET_PERMIT = 3,     ///< one of the permits of a semaphore
  REDLOCK_TARGET_ALL_OF = 4      ///< several resources, all or none
};

/// The lock that a call asks for. Fields that the kind has no use for must be zero.
typedef struct redlock_target {
  size_t size;
  redlock_target_kind kind;
  const char* resource;               ///< the first of several, the name of a semaphore
  const char* const* more_resources;  ///< all of: those after the first
  size_t more_resource_count;
  const char* owner;    ///< owned
  uint64_t permits;     ///< permit: how many there are
  int64_t interval_ns;  ///< exclusive, permit, all of: once per interval; 0: none
} redlock_target;

/// An exclusive target that has no resource: fill it in.
REDLOCK_C_EXPORT void redlock_target_init(redlock_target* target, size_t size);

/// The targets by kind, for programs in C. Others fill in the struct. The strings must live until
/// the call that is given the target returns.
static inline redlock_target redlock_exclusive(const char* resource) {
  redlock_target target = {
      sizeof(redlock_target), REDLOCK_TARGET_EXCLUSIVE, resource, NULL, 0, NULL, 0, 0};
  return target;
}
static inline redlock_target redlock_shared(const char* resource) {
  redlock_target target = redlock_exclusive(resource);
  target.kind = REDLOCK_TARGET_SHARED;
  return target;
}
static inline redlock_target redlock_owned(const char* resource, const char* owner) {
  redlock_target target = redlock_exclusive(resource);
  target.kind = REDLOCK_TARGET_OWNED;
  target.owner = owner;
  return target;
}
static inline redlock_target redlock_permit(const char* resource, uint64_t permits) {
  redlock_target target = redlock_exclusive(resource);
  target.kind = REDLOCK_TARGET_PERMIT;
  target.permits = permits;
  return target;
}
/// At least one resource. The array must live as long as the strings.
static inline redlock_target redlock_all_of(const char* const* resources, size_t count) {
  redlock_target target = redlock_exclusive(count == 0 ? NULL : resources[0]);
  target.kind = REDLOCK_TARGET_ALL_OF;
  target.more_resources = count < 2 ? NULL : resources + 1;
  target.more_resource_count = count < 2 ? 0 : count - 1;
  return target;
}
/// Once per interval over all contenders: nobody acquires the resource again until
/// `interval_ns`, a year at most, has passed since it was acquired.
static inline redlock_target redlock_interval(const char* resource, int64_t interval_ns) {
  redlock_target target = redlock_exclusive(resource);
  target.interval_ns = interval_ns;
  return target;
}

// --- The client ---

/// The kind of a change.
typedef int32_t redlock_node_event_kind;
enum {
  REDLOCK_NODE_UP = 0,           ///< connected, authenticated, identified
  REDLOCK_NODE_DOWN = 1,         ///< the connection ended or failed; the client retries
  REDLOCK_NODE_PROTOCOL = 2,     ///< the node violated the Redis protocol
  REDLOCK_NODE_EXCLUDED = 3,     ///< a guard took its vote away
  REDLOCK_NODE_UNDELIVERED = 4,  ///< the client closed before releases could be delivered to it
  REDLOCK_NODE_LEARNED = 5,      ///< a member of the deployment that the options do not name
  REDLOCK_NODE_PAUSED = 6,       ///< this client's machine stood still; no node is at fault
  REDLOCK_NODE_WARNING = 7,      ///< somebody has to act, and the client goes on: changed TLS files
  REDLOCK_NODE_COUNTERS_RESET = 8  ///< an operator reset its counters (CONFIG RESETSTAT)
};

/// How much attention an event deserves.
typedef int32_t redlock_event_level;
enum {
  REDLOCK_LEVEL_DEBUG = 0,   ///< an idle connection ended, or was made again
  REDLOCK_LEVEL_INFO = 1,    ///< up
  REDLOCK_LEVEL_WARNING = 2  ///< everything else
};

/// A change in the state of a node. The struct is valid until the callback returns.
typedef struct redlock_node_event {
  redlock_node_event_kind kind;
  uint64_t node;        ///< position in the nodes of the options; past its end: a learned one
  const char* url;      ///< without the password
  const char* message;  ///< one line
  redlock_event_level level;
  uint64_t times;  ///< how often it happened: 1, except in the summaries of on_log
} redlock_node_event;

/// The kind of an observation.
typedef int32_t redlock_observation_kind;
enum {
  REDLOCK_ACQUIRE_BEGAN = 0,
  REDLOCK_ACQUIRE_ENDED = 1,  ///< follows each beginning once
  REDLOCK_HOLD_BEGAN = 2,     ///< follows the end of an acquire that was granted
  REDLOCK_HOLD_ENDED = 3,     ///< follows each beginning of a hold once
  REDLOCK_LEASE_LOST = 4      ///< the deadline passed; the end of the hold follows
};

/// An acquire call or a hold that began or ended, for tracing: see Observer. The struct is valid
/// until the callback returns.
typedef struct redlock_observation {
  redlock_observation_kind kind;
  redlock_status failure;  ///< acquire ended: why no lease was granted; REDLOCK_OK: one was
  uint64_t call;           ///< names the call and its lease within one client
  int64_t at_ns;           ///< when it happened, by the clock of redlock_now_ns
  const char* resource;    ///< the resource, or the first of several; for a held permit, its name
  const char* token;       ///< hold: its token; empty otherwise
  uint64_t fencing_token;  ///< hold: its fencing token; 0: none
  const char* end;         ///< hold ended: "released", "detached", "lost", "closed"; else "open"
} redlock_observation;

/// A request for the credentials of a node. Answer it once, which ends it, by
/// redlock_credentials_provide or redlock_credentials_fail, within the callback or later, on any
/// thread. The time until then is part of the time to connect. A request that is never answered
/// occupies a thread for ever.
typedef struct redlock_credentials_request redlock_credentials_request;

/// The URL of the node, without user and password.
REDLOCK_C_EXPORT const char* redlock_credentials_url(const redlock_credentials_request* request);
/// If `user` is NULL or empty, the user of the URL counts, or else that of the options. NULL for
/// `password` is a failure.
REDLOCK_C_EXPORT void redlock_credentials_provide(redlock_credentials_request* request,
                                                  const char* user, const char* password);
/// Answers that there are no credentials. `message` is one line without secrets, which the node's
/// vote then shows.
REDLOCK_C_EXPORT void redlock_credentials_fail(redlock_credentials_request* request,
                                               const char* message);

/// The configuration of a client. Everything but `nodes` has a default, which `_init` writes; NULL,
/// and 0 for an option that has no other default, stand for it, too. See ClientOptions.
///
/// `free_context`, if there is one, is called once for each call that was given the options, after
/// the library's last use of `context`: for languages whose callbacks must be kept alive. It is
/// called on any thread.
typedef struct redlock_client_options {
  size_t size;
  const char* const* nodes;  ///< redis://[user[:password]@]host[:port][/db], rediss://, unix://
  size_t node_count;
  // face: options of clients
  /// How many votes make a lock: at least a majority of the nodes. Default: a majority.
  uint64_t quorum;
  /// The name of this client for people, in inspections and refusals. Default: `user@host:pid
  /// program`.
  const char* name;
  /// The ACL user of nodes whose URL names none. Default: none.
  const char* user;
  /// The password of nodes whose URL has none. Default: none.
  const char* password;
  /// A file whose first line is the password of nodes whose URL has none. It is read again at each
  /// connection to a node. Not together with `password` or a function that provides credentials.
  /// Default: none.
  const char* password_file;
  /// CA certificates for rediss:// (PEM). Default: the system's.
  const char* tls_ca_file;
  /// The client's own certificate for rediss:// (PEM). Default: none.
  const char* tls_certificate_file;
  /// The private key of that certificate (PEM). Default: none.
  const char* tls_key_file;
  /// The name that certificates of rediss:// nodes must have, for URLs without ?server_name=NAME.
  /// Default: the host of the URL.
  const char* tls_server_name;
  /// How long the first attempt to connect to a node may take. After each attempt that took longer,
  /// the limit doubles, up to eight times. Default: the longest time for an answer.
  int64_t node_connect_timeout_ns;
  /// The least time that a node has for an answer. The limit follows the measured round trip.
  /// Default: 250 ms.
  int64_t node_shortest_timeout_ns;
  /// The most time that a node has for an answer. Default: 1 s.
  int64_t node_longest_timeout_ns;
  /// Whether nodes that can compare and delete without a script do. Default: true.
  bool node_plain_commands;
  /// The longest TTL that this deployment allows. Default: 30 s.
  int64_t max_ttl_ns;
  /// How long a node that restarted without its data has no vote. Default: the max TTL and a
  /// margin.
  int64_t guard_quarantine_ns;
  /// How far a node's clock may be from the median of all clocks before the node loses its vote.
  /// Default: 1 s.
  int64_t guard_clock_bound_ns;
  /// Whether nodes that may have forgotten locks have no vote. Default: true.
  bool guard_restart;
  /// Whether nodes whose clock stepped forward have no vote. Default: true.
  bool guard_clock;
  /// A node that restarted with its data keeps its vote if it writes every command to disk
  /// (appendfsync always). Default: false.
  bool guard_trust_durable;
  /// Whether calls that do not wait also name the holder if they fail, for one more round trip.
  /// Default: false.
  bool name_holders;
  /// A text before the names of resources on the nodes, so that teams can share nodes. It ends with
  /// a colon, as team: does. Names in calls and results are without it. Default: none.
  const char* prefix;
  // face: end
  /// Called on the client's loop thread. It must not block.
  void (*on_node_event)(void* context, const redlock_node_event* event);
  /// Observes acquire calls and leases, in the order of the events. Called on the client's
  /// loop thread. It must not block.
  void (*on_observation)(void* context, const redlock_observation* observation);
  /// The node events for a log, which stays short: the first of a kind, node and level at once, the
  /// others in one summary per minute, and at the end of the client. Called on the client's loop
  /// thread. It must not block.
  void (*on_log)(void* context, const redlock_node_event* event);
  /// Called for user and password at each new connection to a node whose URL has no password; NULL:
  /// there is no such function. Not together with `password`. See CredentialsProvider, and
  /// redlock_credentials_request.
  ///
  /// Runs on a thread of its own, for several nodes at once, and may block; with a dispatcher, on
  /// the dispatcher's thread, which it should not block. A call may come, or last, after the client
  /// was freed: `free_context` is called after the last one.
  void (*on_credentials)(void* context, redlock_credentials_request* request);
  /// The dispatcher that runs the callbacks of the client, of its calls and of its leases. NULL:
  /// they run on the client's loop thread.
  redlock_dispatcher* dispatcher;
  void* context;
  void (*free_context)(void* context);
} redlock_client_options;

/// Writes the defaults. `size` is sizeof(redlock_client_options).
REDLOCK_C_EXPORT void redlock_client_options_init(redlock_client_options* options, size_t size);

/// The blocking client. Its calls may be made by any number of threads at once. Callbacks run on a
/// thread of its own, where blocking calls are refused with REDLOCK_WOULD_BLOCK. After fork(), the
/// child's copy refuses every call with REDLOCK_FORKED.
typedef struct redlock_client redlock_client;

/// Connects in the background. Errors: invalid_argument, limit_reached.
REDLOCK_C_EXPORT redlock_status redlock_client_create(const redlock_client_options* options,
                                                      redlock_client** client,
                                                      redlock_error** error);

/// The releases that a client could not deliver to a node before it was closed.
typedef struct redlock_undelivered {
  uint64_t node;    ///< position in the nodes of the options
  const char* url;  ///< without the password
  uint64_t releases;
  /// How long at most keys stay there: from the end of the client, or, with `may_write_late`, from
  /// when the node has executed all requests that it has received.
  int64_t left_ns;
  bool may_write_late;  ///< a node that hangs can still write a key when it goes on
} redlock_undelivered;

/// The nodes to which releases could not be delivered. See CloseReport.
typedef struct redlock_close_report {
  uint64_t undelivered_count;
} redlock_close_report;

/// NULL past the end.
REDLOCK_C_EXPORT const redlock_undelivered* redlock_close_report_undelivered(
    const redlock_close_report* report, size_t i);
REDLOCK_C_EXPORT void redlock_close_report_free(redlock_close_report* report);

/// Ends every blocked call with `closed`, releases every lease, which is lost then
/// (redlock_lease_lost), waits for the answers, at most one node time limit, and closes the
/// connections. `report` may be NULL. Errors: forked, would_block.
REDLOCK_C_EXPORT redlock_status redlock_client_close(redlock_client* client,
                                                     redlock_close_report** report,
                                                     redlock_error** error);

/// Closes, if need be, and frees. Leases of the client may be freed before or after it.
REDLOCK_C_EXPORT void redlock_client_free(redlock_client* client);

// --- Acquiring ---

/// The terms of a lease: of an acquire call, and of every lock of a mutex. See AcquireOptions.
/// `free_context` as in redlock_client_options.
typedef struct redlock_acquire_options {
  size_t size;
  // face: options of calls
  /// How long the nodes keep the lock unless it is extended. Default: 10 s.
  int64_t ttl_ns;
  /// Whether the lease is extended in the background until it is released. Default: true.
  bool renew;
  /// The lease is never valid for longer than this after it was granted. Default: no limit.
  int64_t max_hold_ns;
  /// After that many renewals the lease expires. Default: no limit.
  uint64_t max_renewals;
  /// Whether the lease gets a fencing token. Default: false.
  bool fencing;
  /// Gives this expiry, from 3 ms to the max TTL, to a key that blocks and has none. Default: such
  /// a key blocks until somebody deletes it.
  int64_t orphan_ttl_ns;
  /// The name of this lease's holder, for people. Default: the client's.
  const char* name;
  // face: end
  /// With `renew`: called on the client's loop thread when only a third of the TTL is left, because
  /// renewals fail or have reached their limit. It must not block.
  void (*on_at_risk)(void* context, int64_t remaining_ns);
  /// Called once, on the client's loop thread, when the deadline passes without a renewal: from
  /// then on the lock may have another holder. It is called also if the lease is released after its
  /// deadline, and never if it is released before. It is not called because the client is closed or
  /// freed: ask redlock_lease_lost. It must not block. The error is valid until the callback
  /// returns.
  void (*on_lost)(void* context, const redlock_error* error);
  void* context;
  void (*free_context)(void* context);
} redlock_acquire_options;

/// Writes the defaults: a TTL of 10 seconds, renewed until it is released, no limits.
REDLOCK_C_EXPORT void redlock_acquire_options_init(redlock_acquire_options* options, size_t size);

/// A granted lock.
typedef struct redlock_lease redlock_lease;

/// Waits until the lock is granted, through outages, too. `options` may be NULL: the defaults.
/// `stop` may be NULL. Errors: excluded (no waiting helps), cancelled, closed, forked, would_block,
/// invalid_argument, limit_reached.
REDLOCK_C_EXPORT redlock_status redlock_acquire(redlock_client* client,
                                                const redlock_target* target,
                                                const redlock_acquire_options* options,
                                                const redlock_stop* stop, redlock_lease** lease,
                                                redlock_error** error);

/// Asks once and does not wait. Errors: held, split, unavailable, expired, excluded, closed,
/// forked, would_block, invalid_argument, limit_reached.
REDLOCK_C_EXPORT redlock_status redlock_try_acquire(redlock_client* client,
                                                    const redlock_target* target,
                                                    const redlock_acquire_options* options,
                                                    redlock_lease** lease, redlock_error** error);

/// Waits for at most `wait_ns`: 0 or less asks once, REDLOCK_FOREVER waits as redlock_acquire does.
/// Errors: as redlock_try_acquire, and cancelled.
REDLOCK_C_EXPORT redlock_status
redlock_try_acquire_for(redlock_client* client, const redlock_target* target, int64_t wait_ns,
                        const redlock_acquire_options* options, const redlock_stop* stop,
                        redlock_lease** lease, redlock_error** error);

// --- Leases. A NULL lease is not valid, has no resource and an empty token. ---

/// The resource; for a permit, the permit's name: "jobs#3".
REDLOCK_C_EXPORT const char* redlock_lease_resource(const redlock_lease* lease);
/// 1, unless the target was REDLOCK_TARGET_ALL_OF.
REDLOCK_C_EXPORT size_t redlock_lease_resource_count(const redlock_lease* lease);
/// All resources of REDLOCK_TARGET_ALL_OF, the first one first. NULL past the end.
REDLOCK_C_EXPORT const char* redlock_lease_resource_at(const redlock_lease* lease, size_t i);
/// The value that the nodes store under the resource.
REDLOCK_C_EXPORT const char* redlock_lease_token(const redlock_lease* lease);
/// The number to send along with every write that the lock protects. 0: the options did not request
/// one, or the lease has been released or detached.
REDLOCK_C_EXPORT uint64_t redlock_lease_fencing_token(const redlock_lease* lease);
/// Compares the clock with the deadline at every call. False after release and loss, and in a
/// forked child.
REDLOCK_C_EXPORT bool redlock_lease_valid(const redlock_lease* lease);
/// The time until the deadline. 0 if it has passed or the lease has ended.
REDLOCK_C_EXPORT int64_t redlock_lease_remaining_ns(const redlock_lease* lease);
/// The deadline, by the clock of redlock_now_ns.
REDLOCK_C_EXPORT int64_t redlock_lease_valid_until_ns(const redlock_lease* lease);
/// Whether the lease ended without its holder's doing: the deadline passed without a renewal, or
/// the client was closed or freed. A release in time is not a loss.
REDLOCK_C_EXPORT bool redlock_lease_lost(const redlock_lease* lease);
/// The granting round, a copy for the caller. Errors: invalid_argument.
REDLOCK_C_EXPORT redlock_status redlock_lease_round(const redlock_lease* lease,
                                                    redlock_round** round, redlock_error** error);

/// Extends the lease to `ttl_ns` from now on. `round` may be NULL. Errors: not_holder, unavailable,
/// limit_reached, closed, forked, would_block, invalid_argument.
REDLOCK_C_CHECKED redlock_status redlock_lease_extend(const redlock_lease* lease, int64_t ttl_ns,
                                                      redlock_round** round, redlock_error** error);

/// Makes a writer's lease (REDLOCK_TARGET_EXCLUSIVE) a reader's (REDLOCK_TARGET_SHARED), without a
/// gap: readers that wait come in at once, and the deadline and the fencing token stay. From the
/// call on, the lease is a reader's, whatever the answer; after `unavailable`, the next renewal or
/// another call changes the rest of the nodes. There is no way back. `round` may be NULL. Errors:
/// not_holder, unavailable, closed, forked, would_block, invalid_argument (several resources, an
/// owner's, a permit, an interval).
REDLOCK_C_CHECKED redlock_status redlock_lease_downgrade(const redlock_lease* lease,
                                                         redlock_round** round,
                                                         redlock_error** error);

/// Deletes the key on all nodes where it is still ours. The lease ends in any case, and has to be
/// freed afterwards. `round` may be NULL. Errors: not_holder (it had expired), unavailable, closed,
/// forked, would_block.
REDLOCK_C_EXPORT redlock_status redlock_lease_release(redlock_lease* lease, redlock_round** round,
                                                      redlock_error** error);

/// Ends renewal and ownership, and leaves the key on the nodes until its TTL has passed, so that
/// the lock can be handed to another owner, in any process. Returns one word of printable ASCII
/// characters, of which redlock_adopt makes a lease; the word lives as long as the lease object.
/// Anyone who has the word can use the lock: keep it secret, and give it to one owner only. The
/// word is empty without a lease, and if the lease is already lost or past its deadline.
REDLOCK_C_EXPORT const char* redlock_lease_detach(redlock_lease* lease);

/// Makes a lease of a word that redlock_lease_detach returned, in this process or another, and
/// extends it to the TTL of the options from now on. Blanks and newlines around the word are left
/// out. The lease keeps its fencing token, or has a larger one if another client asked for one
/// since. A word of a reader's lease makes a reader's lease, even if the lock is still a writer's.
/// `options` may be NULL: the defaults. Errors: not_holder (the lock had expired or was released),
/// unavailable, expired, excluded (no larger fencing token is left), closed, forked, would_block,
/// invalid_argument, limit_reached.
REDLOCK_C_EXPORT redlock_status redlock_adopt(redlock_client* client, const char* detached,
                                              const redlock_acquire_options* options,
                                              redlock_lease** lease, redlock_error** error);

/// Sends the release of a lease that is still held, without waiting for the answers, and frees. It
/// never blocks.
REDLOCK_C_EXPORT void redlock_lease_free(redlock_lease* lease);

// --- By a token that was detached or came from another process ---

// In all of these, `round` may be NULL.
// face: calls by a token
/// Extends the lock, of whatever kind it is, to `ttl_ns` from now on; of several resources, all or
/// none. A permit is named by its resource, 'jobs#3'. Errors: expired, not_holder, unavailable,
/// closed, forked, would_block, invalid_argument.
REDLOCK_C_CHECKED redlock_status redlock_extend(redlock_client* client,
                                                const redlock_target* target, const char* token,
                                                int64_t ttl_ns, redlock_round** round,
                                                redlock_error** error);
/// Makes a writer's lock a reader's, as `downgrade` of a lease does. Errors: not_holder,
/// unavailable, closed, forked, would_block, invalid_argument.
REDLOCK_C_CHECKED redlock_status redlock_downgrade(redlock_client* client, const char* resource,
                                                   const char* token, redlock_round** round,
                                                   redlock_error** error);
/// Releases the lock; of several resources, those that the token still holds. Errors: not_holder,
/// unavailable, closed, forked, would_block, invalid_argument.
REDLOCK_C_EXPORT redlock_status redlock_release(redlock_client* client,
                                                const redlock_target* target, const char* token,
                                                redlock_round** round, redlock_error** error);
/// Breaks somebody's lock, for an operator: the nodes remember who did it. For `delay_ns` after
/// that (0: no time), nobody can acquire the resource. Others who share the lock keep their holds.
/// Errors: not_holder, unavailable, closed, forked, would_block, invalid_argument.
REDLOCK_C_CHECKED redlock_status redlock_break(redlock_client* client, const char* resource,
                                               const char* token, int64_t delay_ns,
                                               redlock_round** round, redlock_error** error);
// face: end

/// Whether the token holds the resource now. Errors: unavailable, closed, forked, would_block,
/// invalid_argument.
REDLOCK_C_EXPORT redlock_status redlock_ownership(redlock_client* client, const char* resource,
                                                  const char* token, bool* held,
                                                  redlock_error** error);

// --- Inspection ---

/// The kind of lock that is stored for a resource. See LockKind.
typedef int32_t redlock_lock_kind;
enum {
  REDLOCK_LOCK_NONE = 0,
  REDLOCK_LOCK_EXCLUSIVE = 1,
  REDLOCK_LOCK_SHARED = 2,
  REDLOCK_LOCK_OWNED = 3,     ///< the holds of one owner
  REDLOCK_LOCK_INTERVAL = 4,  ///< no holder, but taken until the interval is over
  REDLOCK_LOCK_RESERVED = 5,  ///< no holder, but reserved for the client that is next
  REDLOCK_LOCK_OTHER = 6      ///< a key that is not a lock of this library
};
/// "exclusive"; "unknown" for a number that is not a kind.
REDLOCK_C_EXPORT const char* redlock_lock_kind_name(redlock_lock_kind kind);

/// The state of a resource. See `Inspection::State`.
typedef int32_t redlock_state;
enum {
  REDLOCK_STATE_FREE = 0,   ///< no token is on a quorum, and a client can acquire the resource
  REDLOCK_STATE_HELD = 1,   ///< one token is on a quorum of nodes
  REDLOCK_STATE_SPLIT = 2,  ///< tokens divide the nodes, and none has a quorum
  REDLOCK_STATE_INDETERMINATE = 3  ///< the state depends on nodes that did not answer
};
/// "held"; "unknown" for a number that is not a state.
REDLOCK_C_EXPORT const char* redlock_state_name(redlock_state state);

/// A lock that an operator broke.
typedef struct redlock_broken_lock {
  int64_t time_ns;    ///< since 1970, by the node's clock
  const char* token;  ///< the token that was deleted
  const char* by;     ///< the name of the operator's client
} redlock_broken_lock;

/// The lock that one node stores for a resource. See NodeInspection.
typedef struct redlock_node_inspection {
  const char* url;  ///< without the password
  redlock_lock_kind kind;
  const char* holder;         ///< exclusive: the stored token; else NULL
  const char* owner;          ///< owned: the name of the owner; else NULL
  const char* holder_name;    ///< the holder's name for people; empty: not known
  uint32_t holds;             ///< shared, owned: the number of holds
  uint32_t waiters;           ///< clients that are queued for the resource
  const char* const* tokens;  ///< shared, owned: the tokens of the holds that expire first
  uint64_t token_count;
  const char* const* names;  ///< the names of the holders of the first tokens
  uint64_t name_count;
  const char* next;        ///< the id of the client that is next
  const char* next_name;   ///< the name of that client; empty: not known
  int64_t remaining_ns;    ///< -1: the key has no expiry, or there is none
  uint64_t fencing_token;  ///< the last fencing token that the node acknowledged; 0: none
  int64_t quarantine_ns;   ///< how long the node has no vote for new leases
  const char* error;       ///< why nothing is known of this node; empty if it answered
} redlock_node_inspection;

/// The locks on a resource over all nodes. A snapshot. See Inspection.
typedef struct redlock_inspection {
  redlock_state state;
  redlock_lock_kind kind;   ///< of the key on most nodes
  const char* holder;       ///< exclusive: the token on most nodes; else NULL
  const char* owner;        ///< owned: the name of the owner on most nodes; else NULL
  const char* holder_name;  ///< the holder's name for people; empty: not known
  uint32_t waiters;         ///< clients that are queued, on the node with most of them
  const char* next;         ///< the id of the client that is next on most nodes
  const char* next_name;    ///< the name of that client; empty: not known
  uint64_t broken_count;
  uint64_t quorum;
  uint64_t node_count;
} redlock_inspection;

/// NULL past the end.
REDLOCK_C_EXPORT const redlock_node_inspection* redlock_inspection_node(
    const redlock_inspection* inspection, size_t i);
/// Locks that operators broke, the newest first. NULL past the end.
REDLOCK_C_EXPORT const redlock_broken_lock* redlock_inspection_broken(
    const redlock_inspection* inspection, size_t i);
REDLOCK_C_EXPORT void redlock_inspection_free(redlock_inspection* inspection);

/// Asks every node what it stores for the resource. Errors: closed, forked, would_block,
/// invalid_argument.
REDLOCK_C_EXPORT redlock_status redlock_inspect(redlock_client* client, const char* resource,
                                                redlock_inspection** inspection,
                                                redlock_error** error);

// --- The asynchronous client ---

struct uv_loop_s;

/// Any number of calls in flight. Every call answers through its callback exactly once, later, on
/// the client's loop thread; redlock_async_watch and redlock_async_election_observe answer at every
/// change. A call answers inside the call if an argument is NULL or cannot be read,
/// if there is no memory, and if the client is closed or belongs to the parent process.
///
/// `error` is NULL if the call succeeded, and the result is NULL if it failed. Both belong to the
/// callback, which frees them then or later. A callback may be NULL: the answer is freed, and a
/// lease with it released. Callbacks must not block. They may call the client, and free it.
///
/// With a loop thread of its own, all functions may be called from any thread; on a caller's loop,
/// only from the thread that runs it.
typedef struct redlock_async redlock_async;

/// Names a call in flight. 0 names none.
typedef uint64_t redlock_request;

/// The callbacks, one type for each type of result.
typedef void (*redlock_lease_done)(void* context, redlock_lease* lease, redlock_error* error);
typedef void (*redlock_round_done)(void* context, redlock_round* round, redlock_error* error);
typedef void (*redlock_inspection_done)(void* context, redlock_inspection* inspection,
                                        redlock_error* error);
typedef void (*redlock_ownership_done)(void* context, bool held, redlock_error* error);
typedef void (*redlock_close_done)(void* context, redlock_close_report* report,
                                   redlock_error* error);

/// `loop` is a `uv_loop_t*` that the caller runs and keeps until redlock_async_close has answered.
/// NULL: a loop thread of its own. Errors: invalid_argument, limit_reached.
REDLOCK_C_EXPORT redlock_status redlock_async_create(const redlock_client_options* options,
                                                     struct uv_loop_s* loop, redlock_async** client,
                                                     redlock_error** error);

/// See redlock_client_close. Every call that has not answered does so with `closed`.
REDLOCK_C_EXPORT void redlock_async_close(redlock_async* client, redlock_close_done done,
                                          void* context);

/// With a loop thread of its own, the client closes, if need be, and this waits. On a caller's
/// loop, call redlock_async_close first and run the loop until it has answered.
REDLOCK_C_EXPORT void redlock_async_free(redlock_async* client);

/// As redlock_acquire; redlock_async_cancel ends the wait.
REDLOCK_C_EXPORT redlock_request redlock_async_acquire(redlock_async* client,
                                                       const redlock_target* target,
                                                       const redlock_acquire_options* options,
                                                       redlock_lease_done done, void* context);
/// As redlock_try_acquire.
REDLOCK_C_EXPORT redlock_request redlock_async_try_acquire(redlock_async* client,
                                                           const redlock_target* target,
                                                           const redlock_acquire_options* options,
                                                           redlock_lease_done done, void* context);
/// As redlock_try_acquire_for.
REDLOCK_C_EXPORT redlock_request redlock_async_try_acquire_for(
    redlock_async* client, const redlock_target* target, int64_t wait_ns,
    const redlock_acquire_options* options, redlock_lease_done done, void* context);

/// As redlock_adopt.
REDLOCK_C_EXPORT void redlock_async_adopt(redlock_async* client, const char* detached,
                                          const redlock_acquire_options* options,
                                          redlock_lease_done done, void* context);

/// Ends an acquire that has not answered: it answers `cancelled`. Also ends a watch. Cancelling too
/// late is harmless.
REDLOCK_C_EXPORT void redlock_async_cancel(redlock_async* client, redlock_request request);

/// As redlock_lease_extend. The lease may be freed before the answer.
REDLOCK_C_EXPORT void redlock_async_lease_extend(redlock_async* client, const redlock_lease* lease,
                                                 int64_t ttl_ns, redlock_round_done done,
                                                 void* context);
/// As redlock_lease_downgrade. The lease may be freed before the answer.
REDLOCK_C_EXPORT void redlock_async_lease_downgrade(redlock_async* client,
                                                    const redlock_lease* lease,
                                                    redlock_round_done done, void* context);
/// As redlock_lease_release. The call frees the lease in any case: do not use the lease after it.
REDLOCK_C_EXPORT void redlock_async_lease_release(redlock_async* client, redlock_lease* lease,
                                                  redlock_round_done done, void* context);

/// As the calls by a token above.
// face: asynchronous calls by a token
REDLOCK_C_EXPORT void redlock_async_extend(redlock_async* client, const redlock_target* target,
                                           const char* token, int64_t ttl_ns,
                                           redlock_round_done done, void* context);
REDLOCK_C_EXPORT void redlock_async_downgrade(redlock_async* client, const char* resource,
                                              const char* token, redlock_round_done done,
                                              void* context);
REDLOCK_C_EXPORT void redlock_async_release(redlock_async* client, const redlock_target* target,
                                            const char* token, redlock_round_done done,
                                            void* context);
REDLOCK_C_EXPORT void redlock_async_break(redlock_async* client, const char* resource,
                                          const char* token, int64_t delay_ns,
                                          redlock_round_done done, void* context);
// face: end

/// As redlock_ownership and redlock_inspect.
REDLOCK_C_EXPORT void redlock_async_ownership(redlock_async* client, const char* resource,
                                              const char* token, redlock_ownership_done done,
                                              void* context);
REDLOCK_C_EXPORT void redlock_async_inspect(redlock_async* client, const char* resource,
                                            redlock_inspection_done done, void* context);

/// Watches a resource. Answers more than once: with an inspection, first at once and then after
/// every change, until redlock_async_cancel or the end of the client, and at the end once with an
/// error. `poll_interval_ns`: how often nodes are asked that do not notify the client;
/// 0: the default. Errors: cancelled, closed, forked, invalid_argument (also for `changed` NULL).
REDLOCK_C_EXPORT redlock_request redlock_async_watch(redlock_async* client, const char* resource,
                                                     int64_t poll_interval_ns,
                                                     redlock_inspection_done changed,
                                                     void* context);

// --- Watching and elections ---

/// Calls `changed` on the calling thread, first at once and then after every change of the
/// resource's state, kind or holder, until `stop` is requested. `poll_interval_ns`: how often nodes
/// are asked that do not notify the client; 0: the default. The inspection is valid until the
/// callback returns. `changes` may be NULL; otherwise it is set to the number of calls. Errors:
/// closed, forked, would_block, invalid_argument; never cancelled.
REDLOCK_C_EXPORT redlock_status
redlock_watch(redlock_client* client, const char* resource, int64_t poll_interval_ns,
              void (*changed)(void* context, const redlock_inspection* inspection), void* context,
              const redlock_stop* stop, uint64_t* changes, redlock_error** error);

/// See ElectionOptions. `free_context` as in redlock_client_options.
typedef struct redlock_election_options {
  size_t size;
  const char* candidate;     ///< the name that observers see
  int64_t ttl_ns;            ///< a leader that dies is replaced within this time
  int64_t poll_interval_ns;  ///< as for redlock_watch
  /// Leadership is about to be lost. Called on the client's loop thread. It must not block.
  void (*on_at_risk)(void* context, int64_t remaining_ns);
  /// Another candidate can be the leader from now on. Not called if the leader resigned in time.
  /// Called as in redlock_acquire_options.
  void (*on_lost)(void* context, const redlock_error* error);
  void* context;
  void (*free_context)(void* context);
} redlock_election_options;

/// Writes the defaults.
REDLOCK_C_EXPORT void redlock_election_options_init(redlock_election_options* options, size_t size);

/// A leader among many candidates. When its client is freed, its calls end with `closed`.
typedef struct redlock_election redlock_election;

/// Asks no node. Errors: invalid_argument.
REDLOCK_C_EXPORT redlock_status redlock_election_create(redlock_client* client, const char* name,
                                                        const redlock_election_options* options,
                                                        redlock_election** election,
                                                        redlock_error** error);
REDLOCK_C_EXPORT void redlock_election_free(redlock_election* election);

/// Being the leader: a lease that is renewed in the background.
typedef struct redlock_leadership redlock_leadership;

/// Waits until elected, through outages, too. `stop` may be NULL. Errors: as redlock_acquire.
REDLOCK_C_EXPORT redlock_status redlock_election_campaign(redlock_election* election,
                                                          const redlock_stop* stop,
                                                          redlock_leadership** leadership,
                                                          redlock_error** error);
/// Asks once and does not wait. Errors: as redlock_try_acquire.
REDLOCK_C_EXPORT redlock_status redlock_election_try_campaign(redlock_election* election,
                                                              redlock_leadership** leadership,
                                                              redlock_error** error);
/// Waits for at most `wait_ns`. Errors: as redlock_try_acquire_for.
REDLOCK_C_EXPORT redlock_status redlock_election_try_campaign_for(redlock_election* election,
                                                                  int64_t wait_ns,
                                                                  const redlock_stop* stop,
                                                                  redlock_leadership** leadership,
                                                                  redlock_error** error);

/// The number to send along with every write. It is larger than that of every leader elected
/// before.
REDLOCK_C_EXPORT uint64_t redlock_leadership_term(const redlock_leadership* leadership);
/// Compares the clock with the deadline at every call. False after it was lost or resigned.
REDLOCK_C_EXPORT bool redlock_leadership_valid(const redlock_leadership* leadership);
/// Whether the deadline passed without a renewal, or the client was closed or freed.
REDLOCK_C_EXPORT bool redlock_leadership_lost(const redlock_leadership* leadership);
/// Waits until another candidate can be elected. `round` may be NULL. Errors: as
/// redlock_lease_release.
REDLOCK_C_EXPORT redlock_status redlock_leadership_resign(redlock_leadership* leadership,
                                                          redlock_round** round,
                                                          redlock_error** error);
/// Resigns, if need be, without waiting, and frees.
REDLOCK_C_EXPORT void redlock_leadership_free(redlock_leadership* leadership);

/// The leader as an observer sees it.
typedef struct redlock_leader {
  const char* candidate;  ///< empty if the leader gave no name
  const char* token;
} redlock_leader;

/// Finds the leader now. On success, `*leader` is NULL if there is none. Errors: unavailable,
/// closed, forked, would_block, invalid_argument.
REDLOCK_C_EXPORT redlock_status redlock_election_leader(redlock_election* election,
                                                        redlock_leader** leader,
                                                        redlock_error** error);
REDLOCK_C_EXPORT void redlock_leader_free(redlock_leader* leader);

/// Calls `changed` on the calling thread with the leader, NULL if there is none, first at once and
/// then after every change, until `stop` is requested. The leader is valid until the callback
/// returns. `changes` as in redlock_watch. Errors: closed, forked, would_block, invalid_argument;
/// never cancelled.
REDLOCK_C_EXPORT redlock_status redlock_election_observe(
    redlock_election* election, void (*changed)(void* context, const redlock_leader* leader),
    void* context, const redlock_stop* stop, uint64_t* changes, redlock_error** error);

/// A leader among many candidates, with the asynchronous client. Calls go on when the election is
/// freed; redlock_async_cancel ends them. It may outlive its client.
typedef struct redlock_async_election redlock_async_election;

/// `leadership` is NULL if there is an error.
typedef void (*redlock_leadership_done)(void* context, redlock_leadership* leadership,
                                        redlock_error* error);
/// `leader` is NULL if there is none, and if there is an error. Free it with redlock_leader_free.
typedef void (*redlock_leader_done)(void* context, redlock_leader* leader, redlock_error* error);

/// Asks no node. Errors: invalid_argument.
REDLOCK_C_EXPORT redlock_status redlock_async_election_create(
    redlock_async* client, const char* name, const redlock_election_options* options,
    redlock_async_election** election, redlock_error** error);
REDLOCK_C_EXPORT void redlock_async_election_free(redlock_async_election* election);

/// See redlock_election_campaign; redlock_async_cancel ends the wait. Resign with
/// redlock_async_election_resign or redlock_leadership_free, which do not block.
REDLOCK_C_EXPORT redlock_request redlock_async_election_campaign(redlock_async_election* election,
                                                                 redlock_leadership_done done,
                                                                 void* context);
/// See redlock_election_try_campaign.
REDLOCK_C_EXPORT redlock_request redlock_async_election_try_campaign(
    redlock_async_election* election, redlock_leadership_done done, void* context);
/// See redlock_election_try_campaign_for.
REDLOCK_C_EXPORT redlock_request redlock_async_election_try_campaign_for(
    redlock_async_election* election, int64_t wait_ns, redlock_leadership_done done, void* context);
/// Gives up leadership and answers when another candidate can be elected. Frees the leadership in
/// any case. Errors: as redlock_async_lease_release.
REDLOCK_C_EXPORT void redlock_async_election_resign(redlock_async_election* election,
                                                    redlock_leadership* leadership,
                                                    redlock_round_done done, void* context);
/// See redlock_election_leader.
REDLOCK_C_EXPORT void redlock_async_election_leader(redlock_async_election* election,
                                                    redlock_leader_done done, void* context);
/// Answers more than once: first at once and then after every change, until it is cancelled or the
/// client ends, and with the error at the end.
REDLOCK_C_EXPORT redlock_request redlock_async_election_observe(redlock_async_election* election,
                                                                redlock_leader_done changed,
                                                                void* context);

// --- Mutexes ---

/// A lock whose threads queue in the process first, and pass its lease on: see Mutex. Any number of
/// threads may use it at once, one object for each resource and process. The lease may be lost
/// while it is held. Not recursive. When its client is freed, the lease is lost and its calls end
/// with `closed`.
typedef struct redlock_mutex redlock_mutex;

/// Asks no node. `options` may be NULL: the defaults. An unusable target or option, such as a TTL
/// that is too short, is refused by the calls that lock. Errors: invalid_argument.
REDLOCK_C_EXPORT redlock_status redlock_mutex_create(redlock_client* client,
                                                     const redlock_target* target,
                                                     const redlock_acquire_options* options,
                                                     redlock_mutex** mutex, redlock_error** error);
/// Must not be called while a thread holds the mutex or waits for it.
REDLOCK_C_EXPORT void redlock_mutex_free(redlock_mutex* mutex);

/// Blocks until held, and waits out outages. `stop` may be NULL. Errors: as redlock_acquire.
REDLOCK_C_CHECKED redlock_status redlock_mutex_lock(redlock_mutex* mutex, const redlock_stop* stop,
                                                    redlock_error** error);
/// Asks once and does not wait. Errors: as redlock_try_acquire; held also if another thread of this
/// process holds it.
REDLOCK_C_CHECKED redlock_status redlock_mutex_try_lock(redlock_mutex* mutex,
                                                        redlock_error** error);
/// Waits for at most `wait_ns`. `stop` may be NULL. Errors: as redlock_mutex_try_lock, and
/// cancelled.
REDLOCK_C_CHECKED redlock_status redlock_mutex_try_lock_for(redlock_mutex* mutex, int64_t wait_ns,
                                                            const redlock_stop* stop,
                                                            redlock_error** error);
/// Passes the lease on to a thread of this process that waits, or releases it without waiting.
REDLOCK_C_EXPORT void redlock_mutex_unlock(redlock_mutex* mutex);

/// Whether the lease is held and its deadline has not passed. False in a forked child.
REDLOCK_C_EXPORT bool redlock_mutex_valid(const redlock_mutex* mutex);
/// Whether the lease was lost: the deadline passed without a renewal, or the client was closed or
/// freed. Call it on the thread that holds the lock.
REDLOCK_C_EXPORT bool redlock_mutex_lost(const redlock_mutex* mutex);
/// The number to send along with every write that the lock protects. Call it on the thread that
/// holds the lock. Threads that pass a lease on share its number: see Mutex. 0 without `fencing`.
REDLOCK_C_EXPORT uint64_t redlock_mutex_fencing_token(const redlock_mutex* mutex);

/// Many readers or one writer: see SharedMutex. A thread unlocks its own locks only. The calls are
/// those of a mutex, as a writer and, with `_shared`, as a reader.
typedef struct redlock_shared_mutex redlock_shared_mutex;

/// As the functions of redlock_mutex with these names, on a resource instead of a target.
REDLOCK_C_EXPORT redlock_status redlock_shared_mutex_create(redlock_client* client,
                                                            const char* resource,
                                                            const redlock_acquire_options* options,
                                                            redlock_shared_mutex** mutex,
                                                            redlock_error** error);
REDLOCK_C_EXPORT void redlock_shared_mutex_free(redlock_shared_mutex* mutex);
REDLOCK_C_CHECKED redlock_status redlock_shared_mutex_lock(redlock_shared_mutex* mutex,
                                                           const redlock_stop* stop,
                                                           redlock_error** error);
REDLOCK_C_CHECKED redlock_status redlock_shared_mutex_try_lock(redlock_shared_mutex* mutex,
                                                               redlock_error** error);
REDLOCK_C_CHECKED redlock_status redlock_shared_mutex_try_lock_for(redlock_shared_mutex* mutex,
                                                                   int64_t wait_ns,
                                                                   const redlock_stop* stop,
                                                                   redlock_error** error);
REDLOCK_C_EXPORT void redlock_shared_mutex_unlock(redlock_shared_mutex* mutex);
REDLOCK_C_CHECKED redlock_status redlock_shared_mutex_lock_shared(redlock_shared_mutex* mutex,
                                                                  const redlock_stop* stop,
                                                                  redlock_error** error);
REDLOCK_C_CHECKED redlock_status redlock_shared_mutex_try_lock_shared(redlock_shared_mutex* mutex,
                                                                      redlock_error** error);
REDLOCK_C_CHECKED redlock_status redlock_shared_mutex_try_lock_shared_for(
    redlock_shared_mutex* mutex, int64_t wait_ns, const redlock_stop* stop, redlock_error** error);
REDLOCK_C_EXPORT void redlock_shared_mutex_unlock_shared(redlock_shared_mutex* mutex);
/// As redlock_mutex_valid and redlock_mutex_lost, for the calling thread's lock as the writer or a
/// reader.
REDLOCK_C_EXPORT bool redlock_shared_mutex_valid(const redlock_shared_mutex* mutex);
REDLOCK_C_EXPORT bool redlock_shared_mutex_lost(const redlock_shared_mutex* mutex);
/// As redlock_mutex_fencing_token, for the writer. 0 for a reader.
REDLOCK_C_EXPORT uint64_t redlock_shared_mutex_fencing_token(const redlock_shared_mutex* mutex);

/// A mutex with the asynchronous client, whose calls queue in the process first: see AsyncMutex.
/// Freeing it ends the calls that wait with `cancelled`. It may outlive its client.
typedef struct redlock_async_mutex redlock_async_mutex;

/// Being the holder. It may outlive the mutex and the client.
typedef struct redlock_guard redlock_guard;
typedef void (*redlock_guard_done)(void* context, redlock_guard* guard, redlock_error* error);

/// Asks no node. `options` may be NULL: the defaults. They are checked like the options of
/// redlock_mutex.
/// Errors: invalid_argument.
REDLOCK_C_EXPORT redlock_status redlock_async_mutex_create(redlock_async* client,
                                                           const redlock_target* target,
                                                           const redlock_acquire_options* options,
                                                           redlock_async_mutex** mutex,
                                                           redlock_error** error);
REDLOCK_C_EXPORT void redlock_async_mutex_free(redlock_async_mutex* mutex);

/// Waits until held, through outages, too. redlock_async_mutex_cancel takes the returned request.
/// Errors: as redlock_async_acquire.
REDLOCK_C_EXPORT redlock_request redlock_async_mutex_lock(redlock_async_mutex* mutex,
                                                          redlock_guard_done done, void* context);
/// Asks once and does not wait. Errors: as redlock_async_try_acquire; held also if another call of
/// this process holds it.
REDLOCK_C_EXPORT redlock_request redlock_async_mutex_try_lock(redlock_async_mutex* mutex,
                                                              redlock_guard_done done,
                                                              void* context);
/// Waits for at most `wait_ns`. Errors: as redlock_async_mutex_try_lock, and cancelled.
REDLOCK_C_EXPORT redlock_request redlock_async_mutex_try_lock_for(redlock_async_mutex* mutex,
                                                                  int64_t wait_ns,
                                                                  redlock_guard_done done,
                                                                  void* context);
REDLOCK_C_EXPORT void redlock_async_mutex_cancel(redlock_async_mutex* mutex,
                                                 redlock_request request);

/// Unlocks: passes the lease on, or releases it without waiting. The guard is freed.
REDLOCK_C_EXPORT void redlock_guard_free(redlock_guard* guard);
/// Whether the lease is held and its deadline has not passed.
REDLOCK_C_EXPORT bool redlock_guard_valid(const redlock_guard* guard);
/// Whether the deadline passed without a renewal, or the client was closed or freed.
REDLOCK_C_EXPORT bool redlock_guard_lost(const redlock_guard* guard);
/// The token of the lease, which may have been passed on.
REDLOCK_C_EXPORT const char* redlock_guard_token(const redlock_guard* guard);
/// As redlock_mutex_fencing_token.
REDLOCK_C_EXPORT uint64_t redlock_guard_fencing_token(const redlock_guard* guard);

// --- Metrics ---

/// The metrics of a client, in the text format of Prometheus (version 0.0.4). The two arrays have
/// `label_count` elements each, and give the names and values of further labels of every sample;
/// they can be NULL if the count is 0. Free the text with redlock_text_free. Errors: closed,
/// forked, would_block, invalid_argument.
REDLOCK_C_EXPORT redlock_status redlock_client_prometheus(redlock_client* client,
                                                          const char* const* label_names,
                                                          const char* const* label_values,
                                                          size_t label_count, char** text,
                                                          redlock_error** error);

/// The answer has a text, to be freed with redlock_text_free, or an error.
typedef void (*redlock_text_done)(void* context, char* text, redlock_error* error);

/// As redlock_client_prometheus, for an asynchronous client.
REDLOCK_C_EXPORT void redlock_async_prometheus(redlock_async* client,
                                               const char* const* label_names,
                                               const char* const* label_values, size_t label_count,
                                               redlock_text_done done, void* context);
REDLOCK_C_EXPORT void redlock_text_free(char* text);

// --- The deployment as a whole ---
//
// These calls make connections of their own by the options of a client, and block. Words such as a
// state are texts, the same that `quorum-lock` shows: later versions may have further ones.

/// A server of a replicated node, as the node's primary reports it. See ServerCheck.
typedef struct redlock_server_check {
  const char* address;  ///< "10.0.0.7:6379"; empty: not known
  const char* state;    ///< of a replica, as Redis says it, such as "online"; of the primary: empty
  uint64_t offset;      ///< of the replication: how far it has come
  uint64_t behind;      ///< bytes that the replica has not acknowledged
  int64_t lag_ns;       ///< since the replica's last acknowledgement; -1: not known
  bool primary;
} redlock_server_check;

/// The reign of a replicated node's primary. See ReignCheck.
typedef struct redlock_reign_check {
  uint64_t servers;          ///< as many as its URL says
  const char* why_not;       ///< stands: empty
  int64_t confirmed_for_ns;  ///< since a client saw a majority follow; -1: none has
  uint64_t acknowledged;     ///< replicas that acknowledged a write
  uint64_t needed;           ///< replicas that have to
  uint64_t attached;         ///< how often replicas have attached since the last record
  const redlock_server_check* const* seen;  ///< the primary first
  uint64_t seen_count;
  bool stands;
} redlock_reign_check;

/// One node's facts about itself. See NodeCheck.
typedef struct redlock_node_check {
  const char* url;      ///< without the password
  const char* problem;  ///< why it is not reachable, or reports nothing
  int64_t round_trip_ns;
  const char* version;  ///< the version of Redis; for a fork, the one that it is compatible with
  const char* server;   ///< "Redis", "Valkey"; empty: it did not say
  const char* server_version;  ///< its own
  const char* role;            ///< "master", "replica", "sentinel", "unknown"
  const char* run_id;
  int64_t uptime_ns;        ///< -1: not known
  const char* persistence;  ///< "none", "rdb", "aof everysec", …
  const char* maxmemory_policy;
  int64_t used_memory;      ///< bytes; -1: not known
  int64_t max_memory;       ///< bytes; 0: no limit; -1: not known
  int64_t clock_offset_ns;  ///< from the median of all nodes; INT64_MIN: not known
  const char* membership;   ///< by its own marker alone: "member", "joining", …
  const char* member;       ///< its URL by its own marker; clients may use another one
  uint64_t replicas;        ///< attached to it
  int64_t quarantine_ns;    ///< how long it has no vote for new leases; REDLOCK_FOREVER: no expiry
  bool reachable;
  bool durable;  ///< writes every command to disk before it answers
  bool cluster;
  bool loading;
  bool marked;                       ///< belongs to a deployment
  bool restarted;                    ///< since its marker was written
  const redlock_reign_check* reign;  ///< NULL: no replicated node, or its primary did not say
} redlock_node_check;

/// Something that is wrong.
typedef struct redlock_finding {
  const char* node;  ///< the node's URL; several are separated by ", "
  const char* kind;  ///< "not-durable", as `quorum-lock doctor` shows it
  const char* what;
  const char* why;
  const char* remedy;
} redlock_finding;

/// The result of redlock_check. See DeploymentCheck.
typedef struct redlock_deployment_check {
  uint64_t node_count;
  uint64_t finding_count;  ///< 0: nothing is wrong
  /// From when on locks are granted; 0: now; REDLOCK_FOREVER: not before a quarantine without end
  /// is deleted; -1: too few members were found.
  int64_t granted_in_ns;
} redlock_deployment_check;

/// NULL past the end.
REDLOCK_C_EXPORT const redlock_node_check* redlock_deployment_check_node(
    const redlock_deployment_check* check, size_t i);
/// NULL past the end.
REDLOCK_C_EXPORT const redlock_finding* redlock_deployment_check_finding(
    const redlock_deployment_check* check, size_t i);
REDLOCK_C_EXPORT void redlock_deployment_check_free(redlock_deployment_check* check);

/// Asks every node for its facts and changes nothing. A problem of a node is a finding, not an
/// error. Errors: invalid_argument, limit_reached.
REDLOCK_C_EXPORT redlock_status redlock_check(const redlock_client_options* options,
                                              redlock_deployment_check** check,
                                              redlock_error** error);

/// The next step of a change of the members. The struct is valid until the callback returns.
typedef struct redlock_change_progress {
  const char* kind;  ///< "waiting" for `left_ns` or for the node; "writing" its marker next
  const char* node;
  const char* what;
  int64_t left_ns;  ///< -1: not known
} redlock_change_progress;

/// See ChangeOptions.
typedef struct redlock_change_options {
  size_t size;
  int64_t patience_ns;       ///< how long to wait for a node in the midst of a change
  bool after_loss;           ///< redlock_bootstrap: the nodes have lost their data
  const redlock_stop* stop;  ///< ends the call with `cancelled`; NULL: none
  /// Called on the calling thread.
  void (*on_progress)(void* context, const redlock_change_progress* progress);
  void* context;
} redlock_change_options;

/// Writes the defaults.
REDLOCK_C_EXPORT void redlock_change_options_init(redlock_change_options* options, size_t size);

/// Opens a deployment: marks every node as a member. See bootstrap() for when it is refused. It does
/// not ask before it replaces a deployment that has other members. `change` may be NULL. Errors: invalid_argument, unavailable, held, cancelled, limit_reached.
REDLOCK_C_EXPORT redlock_status redlock_bootstrap(const redlock_client_options* options,
                                                  const redlock_change_options* change,
                                                  redlock_deployment_check** check,
                                                  redlock_error** error);

/// The membership of a node, by its own marker and those of the others.
typedef struct redlock_member {
  const char* url;         ///< at which it was asked, without user and password
  const char* state;       ///< "member", "joining", "opening", "blank", …
  const char* problem;     ///< unreachable: why
  const char* deployment;  ///< the id in its marker
  int64_t quarantine_ns;   ///< REDLOCK_FOREVER: the quarantine key has lost its expiry
  const char* member;      ///< its URL by its own marker; clients may use another one
  const char* primary;     ///< a replicated node: the address of its primary; empty: not known
} redlock_member;

/// The members of a deployment. See Membership.
typedef struct redlock_membership {
  const char* deployment;      ///< the id; empty: no node belongs to a deployment
  const char* const* members;  ///< URLs, sorted
  uint64_t member_count;
  uint64_t node_count;  ///< the members, and the other nodes that were asked
  int64_t max_ttl_ns;   ///< the longest lease
  const char* resume;   ///< arguments of `quorum-lock` that resume an unfinished change; or empty
} redlock_membership;

/// NULL past the end.
REDLOCK_C_EXPORT const redlock_member* redlock_membership_node(const redlock_membership* membership,
                                                               size_t i);
REDLOCK_C_EXPORT void redlock_membership_free(redlock_membership* membership);

/// Reads the membership of the deployment, and changes nothing. Errors: invalid_argument,
/// limit_reached.
REDLOCK_C_EXPORT redlock_status redlock_members(const redlock_client_options* options,
                                                redlock_membership** membership,
                                                redlock_error** error);

/// Change the members, one node at a time: see replace_member() for the rules. A call that ended
/// early is resumed by the same call. `change` may be NULL. Errors: invalid_argument, unavailable,
/// cancelled, limit_reached.
REDLOCK_C_EXPORT redlock_status redlock_replace_member(const redlock_client_options* options,
                                                       const char* leaving, const char* entering,
                                                       const redlock_change_options* change,
                                                       redlock_membership** membership,
                                                       redlock_error** error);
REDLOCK_C_EXPORT redlock_status redlock_add_member(const redlock_client_options* options,
                                                   const char* entering,
                                                   const redlock_change_options* change,
                                                   redlock_membership** membership,
                                                   redlock_error** error);
REDLOCK_C_EXPORT redlock_status redlock_remove_member(const redlock_client_options* options,
                                                      const char* leaving,
                                                      const redlock_change_options* change,
                                                      redlock_membership** membership,
                                                      redlock_error** error);

/// A lock over all nodes. See ListedLock.
typedef struct redlock_listed_lock {
  const char* resource;  ///< for a semaphore, its name
  redlock_lock_kind kind;
  const char* state;     ///< "held", "split", "minority", "indeterminate", "reserved", "free"
  const char* holder;    ///< exclusive, but not a semaphore: the token on most nodes; else NULL
  const char* owner;     ///< owned: the name of the owner on most nodes; else NULL
  uint64_t holds;        ///< shared, owned: the number of holds
  int64_t permits;       ///< semaphore: how many permits are held; -1: not a semaphore
  int64_t remaining_ns;  ///< how long the lock is held unless it is extended
  uint64_t waiters;
  uint64_t nodes;           ///< how many nodes store it
  const char* holder_name;  ///< the holder's name for people; NULL: not known
} redlock_listed_lock;

/// The part of one node in the list.
typedef struct redlock_listed_node {
  const char* url;     ///< without the password
  const char* error;   ///< why it did not answer; empty if it did
  uint64_t unread;     ///< keys not listed: see ListedNode
  bool stopped_early;  ///< it has more keys than `keys_per_node`
} redlock_listed_node;

/// The locks of all nodes. See LockList.
typedef struct redlock_lock_list {
  uint64_t lock_count;
  uint64_t node_count;
  uint64_t quorum;
  uint64_t answered;  ///< nodes that answered; below the quorum, locks may be missing
  bool complete;      ///< a quorum of nodes answered, and these showed all of their keys
} redlock_lock_list;

/// Sorted by resource. NULL past the end.
REDLOCK_C_EXPORT const redlock_listed_lock* redlock_lock_list_lock(const redlock_lock_list* list,
                                                                   size_t i);
/// NULL past the end.
REDLOCK_C_EXPORT const redlock_listed_node* redlock_lock_list_node(const redlock_lock_list* list,
                                                                   size_t i);
REDLOCK_C_EXPORT void redlock_lock_list_free(redlock_lock_list* list);

/// Lists the locks that the nodes store. `pattern` is a glob as Redis has it, NULL: all resources.
/// `keys_per_node`: how many keys of each node are read, 0: the default. Changes nothing.
/// Errors: invalid_argument, limit_reached.
REDLOCK_C_EXPORT redlock_status redlock_list_locks(const redlock_client_options* options,
                                                   const char* pattern, uint64_t keys_per_node,
                                                   redlock_lock_list** list, redlock_error** error);

#ifdef __cplusplus
}
#endif

#endif
