// What is sent for a client that waits, and for how long a free resource is reserved.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "redis/batches/encoder.hpp"
#include "redis/scripts_embedded.hpp"
#include "support/encoding.hpp"
#include "support/resp.hpp"

namespace redlock::redis {
namespace {

using core::ScriptForm;
using core::Terms;
using core::Verb;
using std::chrono::milliseconds;

Token lock_token() { return Token::parse("t0k").value(); }
std::string digest_of(const scripts::Script& script) { return std::string(script.sha1); }

Terms waiting(std::optional<std::int64_t> ticket) {
  Terms terms;
  terms.client = "c";
  terms.ticket = ticket;
  return terms;
}

TEST(EncoderQueues, AWaitingClientAsksInItsOwnName) {
  Encoder encoder;
  const auto take = [&](const Terms& terms) {
    return std::string(test::encode(encoder, Verb::take, ScriptForm::digest, Dialect::classic, "r",
                                    lock_token(), milliseconds(9), 0, terms));
  };
  const auto taken = [](std::string_view client, std::string_view ticket) {
    return test::resp::command({"EVALSHA", digest_of(scripts::take), "2", "redlock:node:numbers",
                                "r", "t0k", "9", "0", "0", std::string(client), std::string(ticket),
                                "30000", "20"});
  };
  EXPECT_EQ(take(waiting(7)), taken("c", "7"));
  EXPECT_EQ(take(waiting(0)), taken("c", "0")) << "with a new ticket";
  EXPECT_EQ(take(waiting(std::nullopt)), taken("c", "")) << "it is not to be queued";
  EXPECT_EQ(take({}), taken("", "")) << "the next one does not wait";
  Terms reader = waiting(std::nullopt);
  reader.group = "shared";
  EXPECT_EQ(test::encode(encoder, Verb::enter, ScriptForm::digest, Dialect::classic, "r",
                         lock_token(), milliseconds(9), 0, reader),
            test::resp::command({"EVALSHA", digest_of(scripts::enter), "1", "r", "t0k", "9",
                                 "shared", "c", "0", "20"}));
  Terms permit = waiting(std::nullopt);
  permit.permits = 4;
  EXPECT_EQ(test::encode(encoder, Verb::take_permit, ScriptForm::digest, Dialect::classic, "a#b#3",
                         lock_token(), milliseconds(9), 0, permit),
            test::resp::command({"EVALSHA", digest_of(scripts::permit), "1", "a#b#3", "t0k", "9",
                                 "a#b#", "4", "c", "", "30000", "20"}));
}

TEST(EncoderQueues, ALostAttemptsReleaseQueuesTheClientAgain) {
  Encoder encoder;
  const auto release = [&](const Terms& terms) {
    return std::string(test::encode(encoder, Verb::release, ScriptForm::digest, Dialect::classic,
                                    "r", lock_token(), milliseconds(9), 0, terms));
  };
  const std::string digest = digest_of(scripts::release);
  Terms terms = waiting(7);
  EXPECT_EQ(release(terms), test::resp::command({"EVALSHA", digest, "1", "r", "t0k", "0", "20", "c",
                                                 "7", "30000", "0"}));
  terms.quiet = true;
  EXPECT_EQ(release(terms), test::resp::command({"EVALSHA", digest, "1", "r", "t0k", "0", "20", "c",
                                                 "7", "30000", "1"}));
  EXPECT_EQ(release({}), test::resp::command({"EVALSHA", digest, "1", "r", "t0k", "0", "20"}))
      << "a usual one has three arguments";
}

TEST(EncoderQueues, APermitsClientIsQueuedForAnyOfItsSemaphore) {
  Encoder encoder;
  Terms terms = waiting(7);
  terms.permits = 4;
  EXPECT_EQ(test::encode(encoder, Verb::take_permit, ScriptForm::digest, Dialect::classic, "a#b#3",
                         lock_token(), milliseconds(9), 0, terms),
            test::resp::command({"EVALSHA", digest_of(scripts::permit), "1", "a#b#3", "t0k", "9",
                                 "a#b#", "4", "c", "7", "30000", "20"}));
  EXPECT_EQ(test::encode(encoder, Verb::release, ScriptForm::digest, Dialect::classic, "a#b#3",
                         lock_token(), milliseconds(9), 0, terms),
            test::resp::command({"EVALSHA", digest_of(scripts::release), "1", "a#b#3", "t0k", "0",
                                 "20", "c", "7", "30000", "0", "a#b#"}));
  Terms leaving;
  leaving.permits = 4;
  EXPECT_EQ(test::encode(encoder, Verb::leave_queue, ScriptForm::digest, Dialect::classic, "a#b#",
                         "c", milliseconds(9), 0, leaving),
            test::resp::command(
                {"EVALSHA", digest_of(scripts::leave), "1", "a#b#", "c", "0", "20", "4"}));
}

TEST(EncoderQueues, AReservationOfAnotherLengthIsEncodedAnew) {
  Encoder encoder;
  const auto release = [&](milliseconds reserved_for) {
    Terms terms;
    terms.reserved_for = reserved_for;
    return std::string(test::encode(encoder, Verb::release, ScriptForm::digest, Dialect::classic,
                                    "r", lock_token(), milliseconds(9), 0, terms));
  };
  const auto released = [](std::string_view reserved_for) {
    return test::resp::command(
        {"EVALSHA", digest_of(scripts::release), "1", "r", "t0k", "0", std::string(reserved_for)});
  };
  EXPECT_EQ(release(milliseconds(20)), released("20"));
  EXPECT_EQ(release(milliseconds(40)), released("40"));
  EXPECT_EQ(release(milliseconds(40)), released("40"));
  EXPECT_EQ(release(milliseconds(20)), released("20"));
}

TEST(EncoderQueues, EverythingThatPassesAResourceOnNamesTheReservation) {
  for (const Verb verb :
       {Verb::release, Verb::take, Verb::join_queue, Verb::leave_queue, Verb::notify}) {
    Encoder encoder;
    Terms terms;
    terms.reserved_for = milliseconds(160);
    const std::string bytes(test::encode(encoder, verb, ScriptForm::digest, Dialect::classic, "r",
                                         lock_token(), milliseconds(9), 0, terms));
    EXPECT_TRUE(bytes.ends_with("\r\n$3\r\n160\r\n")) << bytes;
  }
}

}  // namespace
}  // namespace redlock::redis
