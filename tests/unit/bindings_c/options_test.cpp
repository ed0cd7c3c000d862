// redlock.h without a node: defaults, sizes, refusals, and objects that are NULL.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "bindings/c/boundary.hpp"
#include "redlock.h"
#include "redlock/options.hpp"
#include "redlock/version.hpp"

namespace redlock::bindings {
namespace {

using testing::HasSubstr;

/// The message with which a call is refused; empty: it is not refused.
template <typename Call>
std::string refused(Call&& call) {
  redlock_error* error = nullptr;
  const redlock_status status = guarded(&error, std::forward<Call>(call));
  if (status == REDLOCK_OK) return "";
  EXPECT_EQ(status, REDLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(error->round, nullptr);
  std::string message = error->message;
  redlock_error_free(error);
  return message;
}

std::string refused_target(const redlock_target& target) {
  return refused([&] { static_cast<void>(target_from(&target)); });
}

TEST(CInterfaceOptions, DefaultsAreThoseOfCpp) {
  redlock_client_options options;
  redlock_client_options_init(&options, sizeof(options));
  const char* const node = "localhost";
  options.nodes = &node;
  options.node_count = 1;
  const ClientOptions read = client_options_from(&options);
  const ClientOptions expected;
  EXPECT_THAT(read.nodes, testing::ElementsAre("localhost"));
  EXPECT_EQ(read.quorum, expected.quorum);
  EXPECT_EQ(read.node.shortest_timeout, expected.node.shortest_timeout);
  EXPECT_EQ(read.node.longest_timeout, expected.node.longest_timeout);
  EXPECT_EQ(read.node.connect_timeout, expected.node.connect_timeout);
  EXPECT_EQ(read.max_ttl, expected.max_ttl);
  EXPECT_EQ(read.guards.restart, expected.guards.restart);
  EXPECT_EQ(read.guards.clock, expected.guards.clock);
  EXPECT_EQ(read.guards.trust_durable, expected.guards.trust_durable);
  EXPECT_EQ(read.guards.quarantine, expected.guards.quarantine);
  EXPECT_EQ(read.guards.clock_bound, expected.guards.clock_bound);
  EXPECT_EQ(read.name_holders, expected.name_holders);
  EXPECT_EQ(read.node.plain_commands, expected.node.plain_commands);
  EXPECT_FALSE(read.on_node_event);
  EXPECT_EQ(read.prefix, expected.prefix);
  options.prefix = "team:";
  EXPECT_EQ(client_options_from(&options).prefix, "team:");
  EXPECT_FALSE(read.credentials);
  EXPECT_FALSE(read.on_log);

  redlock_acquire_options terms;
  redlock_acquire_options_init(&terms, sizeof(terms));
  for (const AcquireOptions& made : {acquire_options_from(&terms), acquire_options_from(nullptr)}) {
    EXPECT_EQ(made.ttl, limits::default_ttl);
    EXPECT_TRUE(made.renew);
    EXPECT_EQ(made.max_renewals, UINT64_MAX);
    EXPECT_EQ(made.max_hold, forever);
    EXPECT_FALSE(made.orphan_ttl);
    EXPECT_FALSE(made.fencing);
    EXPECT_FALSE(made.on_at_risk);
    EXPECT_FALSE(made.on_lost);
  }
}

// The default that a row of face.def names is the one that _init writes.
void expect_default(const char* name, std::string_view named, bool value) {
  EXPECT_EQ(named, value ? "true" : "false") << name;
}
void expect_default(const char* name, std::string_view named, std::int64_t value) {
  const std::chrono::nanoseconds time(value);
  if (named.ends_with(" ms")) {
    EXPECT_EQ(std::to_string(time / std::chrono::milliseconds(1)) + " ms", named) << name;
  } else if (named.ends_with(" s")) {
    EXPECT_EQ(std::to_string(time / std::chrono::seconds(1)) + " s", named) << name;
  } else {
    EXPECT_EQ(value, named == "no limit" ? REDLOCK_FOREVER : 0) << name;
  }
}
void expect_default(const char* name, std::string_view named, std::uint64_t value) {
  EXPECT_EQ(value, named == "no limit" ? UINT64_MAX : 0) << name;
}
void expect_default(const char* name, std::string_view /*named*/, const char* value) {
  EXPECT_EQ(value, nullptr) << name;
}

TEST(CInterfaceOptions, HaveTheDefaultsThatTheirRowsName) {
  redlock_client_options client;
  redlock_client_options_init(&client, sizeof(client));
  redlock_acquire_options terms;
  redlock_acquire_options_init(&terms, sizeof(terms));
#define CLIENT(kind, member, c_member, preset, ...) \
  expect_default(#c_member, preset, client.c_member);
#define ACQUIRE(kind, member, c_member, preset, ...) \
  expect_default(#c_member, preset, terms.c_member);
#include "redlock/face.def"
}

TEST(CInterfaceOptions, AllOfThemAreRead) {
  redlock_acquire_options terms;
  redlock_acquire_options_init(&terms, sizeof(terms));
  terms.ttl_ns = 1;
  terms.renew = false;
  terms.max_renewals = 3;
  terms.max_hold_ns = 4;
  terms.orphan_ttl_ns = 5;
  terms.name = "me";
  terms.fencing = true;
  const AcquireOptions read = acquire_options_from(&terms);
  EXPECT_EQ(read.ttl.count(), 1);
  EXPECT_FALSE(read.renew);
  EXPECT_EQ(read.max_renewals, 3U);
  EXPECT_EQ(read.max_hold.count(), 4);
  EXPECT_EQ(read.orphan_ttl, std::chrono::nanoseconds(5));
  EXPECT_EQ(read.name, "me");
  EXPECT_TRUE(read.fencing);
}

TEST(CInterfaceOptions, OfAnotherVersionTheKnownPartIsRead) {
  struct Later {
    redlock_acquire_options known;
    std::array<unsigned char, 64> unknown;
  } later;
  std::memset(static_cast<void*>(&later), 0xff, sizeof(later));
  redlock_acquire_options_init(&later.known, sizeof(later));
  EXPECT_EQ(later.known.size, sizeof(later));
  EXPECT_THAT(later.unknown, testing::Each(0)) << "of a program with a later header";
  later.known.ttl_ns = 77;
  EXPECT_EQ(acquire_options_from(&later.known).ttl.count(), 77);

  std::array<unsigned char, 24> shorter{};
  shorter.back() = 0xee;
  redlock_acquire_options* const small = reinterpret_cast<redlock_acquire_options*>(&shorter);
  redlock_acquire_options_init(small, shorter.size() - 1);
  EXPECT_EQ(shorter.back(), 0xee) << "written past the end";
  redlock_acquire_options_init(nullptr, sizeof(redlock_acquire_options));

  redlock_acquire_options none{};
  EXPECT_THAT(refused([&] { static_cast<void>(acquire_options_from(&none)); }),
              HasSubstr("options.size is 0"));
}

TEST(CInterfaceOptions, TheContextIsGivenBackOnceWhateverBecomesOfTheCall) {
  int freed = 0;
  redlock_acquire_options terms;
  redlock_acquire_options_init(&terms, sizeof(terms));
  terms.context = &freed;
  terms.free_context = [](void* context) { ++*static_cast<int*>(context); };
  EXPECT_EQ(redlock_try_acquire(nullptr, nullptr, &terms, nullptr, nullptr),
            REDLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(freed, 1);
  terms.on_at_risk = [](void*, int64_t) {};
  terms.on_lost = [](void*, const redlock_error*) {};
  {
    const AcquireOptions read = acquire_options_from(&terms);
    const AcquireOptions copy = read;  // NOLINT(performance-unnecessary-copy-initialization)
    EXPECT_EQ(freed, 1);
  }
  EXPECT_EQ(freed, 2);
}

TEST(CInterfaceTarget, TheKindsAreThoseOfCpp) {
  const char* const several[] = {"a", "b", "c"};
  EXPECT_EQ(target_from(std::array{redlock_exclusive("r")}.data()).kind(), Target::Kind::exclusive);
  EXPECT_EQ(target_from(std::array{redlock_shared("r")}.data()).kind(), Target::Kind::shared);
  const Target owned = target_from(std::array{redlock_owned("r", "me")}.data());
  EXPECT_EQ(owned.kind(), Target::Kind::owned);
  EXPECT_EQ(owned.owner(), "me");
  const Target permit = target_from(std::array{redlock_permit("r", 4)}.data());
  EXPECT_EQ(permit.kind(), Target::Kind::permit);
  EXPECT_EQ(permit.permits(), 4U);
  const Target all = target_from(std::array{redlock_all_of(several, 3)}.data());
  EXPECT_EQ(all.kind(), Target::Kind::all_of);
  EXPECT_EQ(all.resource(), "a");
  EXPECT_THAT(all.more_resources(), testing::ElementsAre("b", "c"));
  const Target interval = target_from(std::array{redlock_interval("r", 9)}.data());
  EXPECT_EQ(interval.kind(), Target::Kind::exclusive);
  EXPECT_EQ(interval.interval().count(), 9);
}

TEST(CInterfaceTarget, RefusesWhatItWouldIgnore) {
  EXPECT_EQ(refused_target(redlock_exclusive(nullptr)), "target.resource is NULL");
  EXPECT_EQ(refused_target(redlock_all_of(nullptr, 0)), "target.resource is NULL");
  EXPECT_EQ(refused_target(redlock_owned("r", nullptr)), "target.owner is NULL");
  redlock_target target = redlock_exclusive("r");
  target.owner = "me";
  EXPECT_THAT(refused_target(target), HasSubstr("target.owner has no meaning"));
  target = redlock_exclusive("r");
  target.permits = 2;
  EXPECT_THAT(refused_target(target), HasSubstr("target.permits has no meaning"));
  target = redlock_shared("r");
  target.interval_ns = 1;
  EXPECT_THAT(refused_target(target), HasSubstr("target.interval_ns has no meaning"));
  const char* const holes[] = {"a", nullptr};
  EXPECT_EQ(refused_target(redlock_all_of(holes, 2)), "target.more_resources[0] is NULL");
  target = redlock_exclusive("r");
  target.kind = 77;
  EXPECT_THAT(refused_target(target), HasSubstr("target.kind is 77"));
}

TEST(CInterfaceRefusals, NullIsRefusedAndNothingIsThrown) {
  redlock_error* error = nullptr;
  EXPECT_EQ(redlock_client_create(nullptr, nullptr, &error), REDLOCK_INVALID_ARGUMENT);
  EXPECT_STREQ(error->message, "options is NULL");
  EXPECT_STREQ(error->holder_name, "");
  EXPECT_EQ(redlock_round_node(error->round, 0), nullptr);
  redlock_error_free(error);

  const redlock_target target = redlock_exclusive("r");
  bool holds = true;
  redlock_lease* lease = reinterpret_cast<redlock_lease*>(&holds);
  EXPECT_EQ(redlock_acquire(nullptr, &target, nullptr, nullptr, &lease, nullptr),
            REDLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(lease, nullptr);
  for (const redlock_status status :
       {redlock_acquire(nullptr, &target, nullptr, nullptr, nullptr, nullptr),
        redlock_try_acquire(nullptr, &target, nullptr, &lease, nullptr),
        redlock_client_close(nullptr, nullptr, nullptr),
        redlock_extend(nullptr, &target, "t", 1, nullptr, nullptr),
        redlock_release(nullptr, &target, "t", nullptr, nullptr),
        redlock_break(nullptr, "r", "t", 0, nullptr, nullptr),
        redlock_ownership(nullptr, "r", "t", &holds, nullptr),
        redlock_inspect(nullptr, "r", nullptr, nullptr),
        redlock_lease_round(nullptr, nullptr, nullptr),
        redlock_lease_extend(nullptr, 1, nullptr, nullptr),
        redlock_lease_release(nullptr, nullptr, nullptr)}) {
    EXPECT_EQ(status, REDLOCK_INVALID_ARGUMENT);
  }
  EXPECT_FALSE(holds);
  EXPECT_STREQ(redlock_lease_resource(nullptr), "");
  EXPECT_STREQ(redlock_lease_token(nullptr), "");
  EXPECT_STREQ(redlock_lease_detach(nullptr), "");
  EXPECT_EQ(redlock_lease_resource_at(nullptr, 0), nullptr);
  EXPECT_EQ(redlock_lease_fencing_token(nullptr), 0U);
  EXPECT_FALSE(redlock_lease_valid(nullptr));
  EXPECT_FALSE(redlock_lease_lost(nullptr));
  EXPECT_EQ(redlock_lease_remaining_ns(nullptr) + redlock_lease_valid_until_ns(nullptr), 0);
  redlock_lease_free(nullptr);
  redlock_client_free(nullptr);
  redlock_error_free(nullptr);
  redlock_round_free(nullptr);
  redlock_inspection_free(nullptr);
  redlock_close_report_free(nullptr);
  redlock_stop_free(nullptr);
}

TEST(CInterfaceRefusals, ExceptionsBecomeStatuses) {
  redlock_error* error = nullptr;
  EXPECT_EQ(guarded(&error, [] { throw std::bad_alloc(); }), REDLOCK_NO_MEMORY);
  EXPECT_EQ(error->status, REDLOCK_NO_MEMORY);
  EXPECT_STREQ(error->message, "no memory is left");
  redlock_error_free(error);
  EXPECT_EQ(guarded(&error, [] { throw std::length_error("too long"); }), REDLOCK_INTERNAL);
  EXPECT_EQ(error->status, REDLOCK_INTERNAL);
  EXPECT_STREQ(error->message, "internal: too long");
  redlock_error_free(error);
  EXPECT_EQ(guarded(nullptr, [] { throw 1; }), REDLOCK_INTERNAL);
}

TEST(CInterfaceNames, AreThoseOfCpp) {
  EXPECT_STREQ(redlock_status_name(REDLOCK_OK), "ok");
  EXPECT_STREQ(redlock_status_name(REDLOCK_HELD), "held");
  EXPECT_STREQ(redlock_status_name(REDLOCK_LIMIT_REACHED), "limit_reached");
  EXPECT_STREQ(redlock_status_name(REDLOCK_NO_MEMORY), "no_memory");
  EXPECT_STREQ(redlock_status_name(REDLOCK_LIMIT_REACHED + 1), "unknown");
  EXPECT_STREQ(redlock_status_name(-1), "unknown");
  EXPECT_STREQ(redlock_vote_name(REDLOCK_VOTE_EXCLUDED), "excluded");
  EXPECT_STREQ(redlock_lock_kind_name(REDLOCK_LOCK_SHARED), "shared");
  EXPECT_STREQ(redlock_holder_kind_name(REDLOCK_HOLDER_NONE), "none");
  EXPECT_STREQ(redlock_holder_kind_name(REDLOCK_HOLDER_EXCLUSIVE), "exclusive");
  EXPECT_STREQ(redlock_holder_kind_name(REDLOCK_HOLDER_WRITER), "writer");
  EXPECT_STREQ(redlock_holder_kind_name(REDLOCK_HOLDER_WRITER + 1), "unknown");
  EXPECT_STREQ(redlock_state_name(REDLOCK_STATE_SPLIT), "split");
  EXPECT_EQ(redlock_version(), version);
}

}  // namespace
}  // namespace redlock::bindings
