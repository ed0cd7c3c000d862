// The calls about the deployment as a whole. They block, so they run on threads of Node's own pool.

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "calls.hpp"
#include "credentials.hpp"
#include "fields.hpp"
#include "options.hpp"
#include "queue.hpp"
#include "results.hpp"

namespace redlock::node {
namespace {

using Stop = std::shared_ptr<redlock_stop>;

// --- Results ---

/// An offset can be negative; INT64_MIN: it is not known.
[[nodiscard]] napi_value clock_offset(const Js& js, const redlock_node_check& node) {
  if (node.clock_offset_ns == std::numeric_limits<std::int64_t>::min()) return js.null();
  return js.number(static_cast<double>(node.clock_offset_ns) / 1e6);
}

[[nodiscard]] napi_value lock_kind(const Js& js, const redlock_listed_lock& lock) {
  return js.text(redlock_lock_kind_name(lock.kind));
}

using Server = redlock_server_check;
constexpr auto server_fields = std::to_array<Field<Server>>({
    {"address", text<&Server::address>},
    {"primary", flag<&Server::primary>},
    {"state", text<&Server::state>},
    {"offset", count<&Server::offset>},
    {"behind", count<&Server::behind>},
    {"lag", duration<&Server::lag_ns>},
});

[[nodiscard]] napi_value servers_seen(const Js& js, const redlock_reign_check& reign) {
  return js.list(reign.seen_count,
                 [&](std::size_t i) { return object_of(js, *reign.seen[i], server_fields); });
}

using Reign = redlock_reign_check;
constexpr auto reign_fields = std::to_array<Field<Reign>>({
    {"servers", count<&Reign::servers>},
    {"stands", flag<&Reign::stands>},
    {"whyNot", text<&Reign::why_not>},
    {"confirmedFor", duration<&Reign::confirmed_for_ns>},
    {"acknowledged", count<&Reign::acknowledged>},
    {"needed", count<&Reign::needed>},
    {"attached", count<&Reign::attached>},
    {"seen", servers_seen},
});

[[nodiscard]] napi_value reign(const Js& js, const redlock_node_check& node) {
  return node.reign == nullptr ? js.null() : object_of(js, *node.reign, reign_fields);
}

using Node = redlock_node_check;
constexpr auto node_fields = std::to_array<Field<Node>>({
    {"url", text<&Node::url>},
    {"problem", text<&Node::problem>},
    {"roundTrip", duration<&Node::round_trip_ns>},
    {"version", text<&Node::version>},
    {"server", text<&Node::server>},
    {"serverVersion", text<&Node::server_version>},
    {"role", text<&Node::role>},
    {"runId", text<&Node::run_id>},
    {"uptime", duration<&Node::uptime_ns>},
    {"persistence", text<&Node::persistence>},
    {"maxmemoryPolicy", text<&Node::maxmemory_policy>},
    {"usedMemory", count<&Node::used_memory>},
    {"maxMemory", count<&Node::max_memory>},
    {"clockOffset", clock_offset},
    {"membership", text<&Node::membership>},
    {"member", text<&Node::member>},
    {"replicas", count<&Node::replicas>},
    {"quarantine", duration<&Node::quarantine_ns>},
    {"reachable", flag<&Node::reachable>},
    {"durable", flag<&Node::durable>},
    {"cluster", flag<&Node::cluster>},
    {"loading", flag<&Node::loading>},
    {"marked", flag<&Node::marked>},
    {"restarted", flag<&Node::restarted>},
    {"reign", reign},
});

using Finding = redlock_finding;
constexpr auto finding_fields = std::to_array<Field<Finding>>({
    {"node", text<&Finding::node>},
    {"kind", text<&Finding::kind>},
    {"what", text<&Finding::what>},
    {"why", text<&Finding::why>},
    {"remedy", text<&Finding::remedy>},
});

using Member = redlock_member;
constexpr auto member_fields = std::to_array<Field<Member>>({
    {"url", text<&Member::url>},
    {"state", text<&Member::state>},
    {"problem", text<&Member::problem>},
    {"deployment", text<&Member::deployment>},
    {"quarantine", duration<&Member::quarantine_ns>},
    {"member", text<&Member::member>},
    {"primary", text<&Member::primary>},
});

using Lock = redlock_listed_lock;
constexpr auto lock_fields = std::to_array<Field<Lock>>({
    {"resource", text<&Lock::resource>},
    {"kind", lock_kind},
    {"state", text<&Lock::state>},
    {"holder", text<&Lock::holder>},
    {"owner", text<&Lock::owner>},
    {"holds", count<&Lock::holds>},
    {"permits", count<&Lock::permits>},
    {"remaining", duration<&Lock::remaining_ns>},
    {"waiters", count<&Lock::waiters>},
    {"nodes", count<&Lock::nodes>},
    {"holderName", text<&Lock::holder_name>},
});

using Listed = redlock_listed_node;
constexpr auto listed_fields = std::to_array<Field<Listed>>({
    {"url", text<&Listed::url>},
    {"error", text<&Listed::error>},
    {"unread", count<&Listed::unread>},
    {"stoppedEarly", flag<&Listed::stopped_early>},
});

/// The parts of a whole, which `part(whole, i)` returns.
template <typename Whole, typename Part, typename Fields>
[[nodiscard]] napi_value parts(const Js& js, const Whole& whole, std::uint64_t how_many,
                               const Part* (*part)(const Whole*, std::size_t),
                               const Fields& fields) {
  return js.list(how_many, [&](std::size_t i) { return object_of(js, *part(&whole, i), fields); });
}

[[nodiscard]] napi_value to_js(const Js& js, const redlock_deployment_check& check) {
  return js.object(
      {{"nodes", parts(js, check, check.node_count, redlock_deployment_check_node, node_fields)},
       {"findings",
        parts(js, check, check.finding_count, redlock_deployment_check_finding, finding_fields)},
       {"grantedIn", js.milliseconds(check.granted_in_ns)}});
}

[[nodiscard]] napi_value to_js(const Js& js, const redlock_membership& membership) {
  return js.object(
      {{"deployment", js.text(membership.deployment)},
       {"members", js.list(membership.member_count,
                           [&](std::size_t i) { return js.text(membership.members[i]); })},
       {"nodes",
        parts(js, membership, membership.node_count, redlock_membership_node, member_fields)},
       {"maxTtl", js.milliseconds(membership.max_ttl_ns)},
       {"resume", js.text(membership.resume)}});
}

[[nodiscard]] napi_value to_js(const Js& js, const redlock_lock_list& list) {
  return js.object(
      {{"locks", parts(js, list, list.lock_count, redlock_lock_list_lock, lock_fields)},
       {"nodes", parts(js, list, list.node_count, redlock_lock_list_node, listed_fields)},
       {"quorum", js.number(static_cast<double>(list.quorum))},
       {"answered", js.number(static_cast<double>(list.answered))},
       {"complete", js.boolean(list.complete)}});
}

// --- Calls ---

/// A call with all that it needs, until Node.js has completed it.
struct Work {
  explicit Work(napi_env env) noexcept : queue(env) {}

  void (*call)(Work& work) = nullptr;
  Texts texts{};
  redlock_client_options options{};
  redlock_change_options change{};
  const redlock_change_options* terms = &change;
  const char* leaving = nullptr;
  const char* entering = nullptr;
  const char* pattern = nullptr;
  std::uint64_t keys_per_node = 0;
  Stop stop{};
  Queue queue;
  double id = 0;
  std::shared_ptr<CredentialsGate> gate = std::make_shared<CredentialsGate>();
  napi_async_work async = nullptr;
};

/// Makes a call of redlock.h with these members of Work, and sends JavaScript its answer.
template <auto function, typename Result, auto... given>
void make(Work& work) {
  Result* result = nullptr;
  redlock_error* error = nullptr;
  static_cast<void>(function(&work.options, (work.*given)..., &result, &error));
  work.queue.send(work.id, "answer",
                  [result = Ptr<Result>(result), error = Ptr<redlock_error>(error)](const Js& js) {
                    if (error) return Outcome{to_js(js, *error), js.null()};
                    return Outcome{js.null(), to_js(js, *result)};
                  });
}

struct Call {
  std::string_view name;
  void (*make)(Work& work);
};
constexpr std::array calls{
    Call{"check", make<redlock_check, redlock_deployment_check>},
    Call{"bootstrap", make<redlock_bootstrap, redlock_deployment_check, &Work::terms>},
    Call{"members", make<redlock_members, redlock_membership>},
    Call{"replaceMember", make<redlock_replace_member, redlock_membership, &Work::leaving,
                               &Work::entering, &Work::terms>},
    Call{"addMember", make<redlock_add_member, redlock_membership, &Work::entering, &Work::terms>},
    Call{"removeMember",
         make<redlock_remove_member, redlock_membership, &Work::leaving, &Work::terms>},
    Call{"listLocks",
         make<redlock_list_locks, redlock_lock_list, &Work::pattern, &Work::keys_per_node>},
};

void execute(napi_env, void* data) noexcept {
  auto& work = *static_cast<Work*>(data);
  work.call(work);
}

void complete(napi_env env, napi_status, void* data) noexcept {
  const std::unique_ptr<Work> work(static_cast<Work*>(data));
  static_cast<void>(napi_delete_async_work(env, work->async));
  work->gate->close();
  work->queue.close();
}

void report_progress(void* context, const redlock_change_progress* seen) noexcept {
  auto& work = *static_cast<Work*>(context);
  work.queue.send(work.id, "progress",
                  [kind = std::string(seen->kind), node = std::string(seen->node),
                   what = std::string(seen->what), left = seen->left_ns](const Js& js) {
                    return Outcome{js.null(), js.object({{"kind", js.text(kind.c_str())},
                                                         {"node", js.text(node.c_str())},
                                                         {"what", js.text(what.c_str())},
                                                         {"left", js.milliseconds(left)}})};
                  });
}

/// Makes the options ask JavaScript for credentials.
void set_provider(Work& work) {
  using KeptGate = std::shared_ptr<CredentialsGate>;
  work.options.context = std::make_unique<KeptGate>(work.gate).release();
  work.options.free_context = [](void* context) noexcept {
    const std::unique_ptr<KeptGate> owned(static_cast<KeptGate*>(context));
  };
  work.options.on_credentials = [](void* context, redlock_credentials_request* request) noexcept {
    (*static_cast<KeptGate*>(context))->ask(request);
  };
}

/// A text among the terms, or NULL.
[[nodiscard]] const char* text_in(Work& work, napi_env env, napi_value terms, const char* name) {
  napi_value value = member_of(env, terms, name);
  return is_given(env, value) ? work.texts.keep(text_from(env, value)) : nullptr;
}

}  // namespace

napi_value deployment(const Arguments& call) {
  napi_env env = call.env();
  auto work = std::make_unique<Work>(env);
  const std::string wanted = call.text(0);
  for (const auto& [name, make] : calls) {
    if (name == wanted) work->call = make;
  }
  if (work->call == nullptr) throw_type_error(env, "there is no call " + wanted);
  napi_value terms = call.at(2);
  work->options = client_options_from(env, call.at(1), work->texts);
  work->change = change_options_from(env, terms, work->texts);
  work->leaving = text_in(*work, env, terms, "leaving");
  work->entering = text_in(*work, env, terms, "entering");
  work->pattern = text_in(*work, env, terms, "pattern");
  napi_value keys = member_of(env, terms, "keys_per_node");
  if (is_given(env, keys)) work->keys_per_node = count_from(env, keys);
  const bool provides = boolean_from(env, member_of(env, terms, "provides"));
  work->id = call.number(4);
  work->stop = call.external<Stop>(5);
  work->change.stop = work->stop.get();
  work->change.on_progress = report_progress;
  work->change.context = work.get();

  napi_value name = nullptr;
  check(env, napi_create_string_utf8(env, "quorum-redlock deployment", NAPI_AUTO_LENGTH, &name));
  check(env,
        napi_create_async_work(env, nullptr, name, execute, complete, work.get(), &work->async));
  work->queue.open(call.at(3), nullptr);
  work->gate->open(work->queue, work->id);
  if (provides) set_provider(*work);
  check(env, napi_queue_async_work(env, work->async));
  static_cast<void>(work.release());
  return nullptr;
}

napi_value make_stop(const Arguments& call) {
  redlock_stop* const stop = redlock_stop_new();
  if (stop == nullptr) throw std::bad_alloc();
  return call.js().external(std::make_unique<Stop>(stop, redlock_stop_free));
}

napi_value request_stop(const Arguments& call) {
  redlock_stop_request(call.external<Stop>(0).get());
  return nullptr;
}

}  // namespace redlock::node
