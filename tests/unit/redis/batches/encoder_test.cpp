#include "redis/batches/encoder.hpp"
#include "redis/requests/row.hpp"
#include "support/encoding.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include "core/vocabulary/holder_words.hpp"
#include "redis/scripts_embedded.hpp"
#include "redis/values/keys.hpp"
#include "support/resp.hpp"

namespace redlock::redis {
namespace {

using core::ScriptForm;
using core::Terms;
using core::Verb;
using std::chrono::microseconds;
using std::chrono::milliseconds;

Token token() { return Token::parse("t0k").value(); }

std::string sha1(const scripts::Script& script) { return std::string(script.sha1); }
std::string text(const scripts::Script& script) { return std::string(script.text); }

TEST(Encoder, APlainSetIsTheFormThatOtherRedlockClientsUse) {
  Encoder encoder;
  EXPECT_EQ(test::encode(encoder, Verb::set, ScriptForm::digest, Dialect::classic, "r", token(),
                         milliseconds(1500)),
            "*6\r\n$3\r\nSET\r\n$1\r\nr\r\n$3\r\nt0k\r\n$2\r\nNX\r\n$2\r\nPX\r\n$4\r\n1500\r\n");
}

TEST(Encoder, ASetWithGetAsksForTheHolder) {
  Encoder encoder;
  EXPECT_EQ(test::encode(encoder, Verb::set, ScriptForm::digest, Dialect::with_get, "r", token(),
                         milliseconds(1)),
            "*7\r\n$3\r\nSET\r\n$1\r\nr\r\n$3\r\nt0k\r\n$2\r\nNX\r\n$2\r\nPX\r\n$1\r\n1\r\n"
            "$3\r\nGET\r\n");
}

TEST(Encoder, PttlFollowsTheSetBackToBack) {
  Encoder encoder;
  EXPECT_EQ(test::encode(encoder, Verb::set_and_ttl, ScriptForm::digest, Dialect::classic, "r",
                         token(), milliseconds(7)),
            "*6\r\n$3\r\nSET\r\n$1\r\nr\r\n$3\r\nt0k\r\n$2\r\nNX\r\n$2\r\nPX\r\n$1\r\n7\r\n"
            "*2\r\n$4\r\nPTTL\r\n$1\r\nr\r\n");
}

TEST(Encoder, ATtlIsCutToWholeMilliseconds) {
  Encoder encoder;
  const std::string expected = test::resp::command({"SET", "r", "t0k", "NX", "PX", "1"});
  EXPECT_EQ(test::encode(encoder, Verb::set, ScriptForm::digest, Dialect::classic, "r", token(),
                         microseconds(1999)),
            expected);
}

TEST(Encoder, TheLongestTtlFits) {
  Encoder encoder;
  EXPECT_EQ(test::encode(encoder, Verb::set, ScriptForm::digest, Dialect::classic, "r", token(),
                         core::Duration::max()),
            test::resp::command({"SET", "r", "t0k", "NX", "PX", "9223372036854"}));
}

TEST(Encoder, ScriptsGoByDigestOrInFull) {
  Encoder encoder;
  const auto encode = [&](Verb verb, ScriptForm form) {
    return std::string(
        test::encode(encoder, verb, form, Dialect::classic, "r", token(), milliseconds(30'000)));
  };
  using test::resp::command;
  EXPECT_EQ(encode(Verb::release, ScriptForm::digest),
            command({"EVALSHA", sha1(scripts::release), "1", "r", "t0k", "0", "20"}));
  EXPECT_EQ(encode(Verb::release, ScriptForm::text),
            command({"EVAL", text(scripts::release), "1", "r", "t0k", "0", "20"}));
  EXPECT_EQ(encode(Verb::extend, ScriptForm::digest),
            command({"EVALSHA", sha1(scripts::extend), "1", "r", "t0k", "30000", "key", ""}));
  EXPECT_EQ(encode(Verb::extend_or_set, ScriptForm::text),
            command({"EVAL", text(scripts::extend), "1", "r", "t0k", "30000", "key", "1"}));
  EXPECT_EQ(encode(Verb::downgrade, ScriptForm::digest),
            command({"EVALSHA", sha1(scripts::extend), "1", "r", "t0k", "0", "", "", "20"}));
  EXPECT_EQ(encode(Verb::inspect, ScriptForm::digest),
            command({"EVALSHA", sha1(scripts::inspect), "3", "r", "redlock:node:numbers",
                     "redlock:node:quarantine", "t0k"}));
  EXPECT_EQ(encode(Verb::expire_orphan, ScriptForm::digest),
            command({"EVALSHA", sha1(scripts::expire_orphan), "1", "r", "30000", "128"}));
}

TEST(Encoder, AnExtendNamesTheKindOfTheLockIfItKnowsIt) {
  Encoder encoder;
  const auto extend = [&](Verb verb, const Terms& terms) {
    return std::string(test::encode(encoder, verb, ScriptForm::digest, Dialect::classic, "r",
                                    token(), milliseconds(30'000), 0, terms));
  };
  const auto expected = [](auto&&... words) {
    return test::resp::command(
        {"EVALSHA", sha1(scripts::extend), "1", "r", "t0k", "30000", words...});
  };
  EXPECT_EQ(extend(Verb::extend, {}), expected("key", ""));
  Terms by_token;
  by_token.by_token = true;
  EXPECT_EQ(extend(Verb::extend, by_token), expected("", ""));
  EXPECT_EQ(extend(Verb::extend_or_set, by_token), expected("key", "1"));
  Terms readers;
  readers.group = core::readers_group;
  EXPECT_EQ(extend(Verb::extend, readers), expected("shared", ""));
  EXPECT_EQ(extend(Verb::extend_or_set, readers), expected("shared", "1"));
  readers.downgraded = true;
  EXPECT_EQ(extend(Verb::extend, readers), expected("shared", "", "20"));
  readers.by_token = true;
  EXPECT_EQ(extend(Verb::extend, readers), expected("", "", "20")) << "it is adopted as a reader's";
}

TEST(Encoder, AFencedSetCarriesItsNumber) {
  Encoder encoder;
  const auto encode = [&](Verb verb) {
    return std::string(test::encode(encoder, verb, ScriptForm::digest, Dialect::classic, "r",
                                    token(), milliseconds(30'000), 1'781'000'000'000'000));
  };
  using test::resp::command;
  EXPECT_EQ(encode(Verb::take),
            command({"EVALSHA", sha1(scripts::take), "2", "redlock:node:numbers", "r", "t0k",
                     "30000", "1781000000000000", "0", "", "", "30000", "20"}));
  EXPECT_EQ(encode(Verb::raise_fence),
            command({"EVALSHA", sha1(scripts::fence), "2", "redlock:node:numbers", "r", "t0k",
                     "1781000000000000"}));
}

TEST(Encoder, SeveralResourcesAreTakenExtendedAndReleasedInOneScript) {
  Encoder encoder;
  const std::vector<std::string> also{"s", "t"};
  Terms terms;
  terms.more_resources = also;
  const auto encode = [&](Verb verb) {
    return std::string(test::encode(encoder, verb, ScriptForm::digest, Dialect::classic, "r",
                                    token(), milliseconds(30'000), 0, terms));
  };
  using test::resp::command;
  EXPECT_EQ(encode(Verb::take),
            command({"EVALSHA", sha1(scripts::take), "4", "redlock:node:numbers", "r", "s", "t",
                     "t0k", "30000", "0", "0", "", "", "30000", "20"}));
  EXPECT_EQ(encode(Verb::extend_or_set), command({"EVALSHA", sha1(scripts::extend), "3", "r", "s",
                                                  "t", "t0k", "30000", "key", "1"}));
  EXPECT_EQ(encode(Verb::release),
            command({"EVALSHA", sha1(scripts::release), "3", "r", "s", "t", "t0k", "0", "20"}));
}

TEST(Encoder, TermsOfOneRequestAreNotThoseOfTheNext) {
  Encoder encoder;
  using test::resp::command;
  const auto release = [&](const Terms& terms) {
    return std::string(test::encode(encoder, Verb::release, ScriptForm::digest, Dialect::classic,
                                    "r", token(), milliseconds(30'000), 0, terms));
  };
  const auto cooling = [](milliseconds cooldown) {
    Terms terms;
    terms.cooldown = cooldown + microseconds(1);  // rounded up to a whole millisecond
    return terms;
  };
  const std::string digest = sha1(scripts::release);
  EXPECT_EQ(release({}), command({"EVALSHA", digest, "1", "r", "t0k", "0", "20"}));
  EXPECT_EQ(release(cooling(milliseconds(5))),
            command({"EVALSHA", digest, "1", "r", "t0k", "6", "20"}));
  EXPECT_EQ(release(cooling(milliseconds(7))),
            command({"EVALSHA", digest, "1", "r", "t0k", "8", "20"}));
  EXPECT_EQ(release({}), command({"EVALSHA", digest, "1", "r", "t0k", "0", "20"}));
}

TEST(Encoder, HoldsNameTheirGroupAndPermitsHowManyThereAre) {
  Encoder encoder;
  using test::resp::command;
  Terms terms;
  terms.group = "owner me";
  terms.writer_reservation = milliseconds(60000);
  EXPECT_EQ(test::encode(encoder, Verb::enter, ScriptForm::digest, Dialect::classic, "r", token(),
                         milliseconds(9), 0, terms),
            command({"EVALSHA", sha1(scripts::enter), "1", "r", "t0k", "9", "owner me", "", "60000",
                     "20"}));
  Terms permits;
  permits.permits = 4;
  EXPECT_EQ(test::encode(encoder, Verb::take_permit, ScriptForm::digest, Dialect::classic, "a#b#3",
                         token(), milliseconds(9), 0, permits),
            command({"EVALSHA", sha1(scripts::permit), "1", "a#b#3", "t0k", "9", "a#b#", "4", "",
                     "", "30000", "20"}));
}

TEST(Encoder, ANumberedSetReadsRaisesAndReadsAgain) {
  Encoder encoder;
  const auto encode = [&](Verb verb) {
    return std::string(test::encode(encoder, verb, ScriptForm::digest, Dialect::with_get, "r",
                                    token(), milliseconds(30'000), 1'781'000'000'000'000));
  };
  using test::resp::command;
  const std::string commands =
      command({"SET", "r", "t0k", "NX", "PX", "30000", "GET"}) +
      command({"ZMSCORE", "redlock:node:numbers", "r", ""}) +
      command({"ZADD", "redlock:node:numbers", "GT", "1781000000000000", "r"}) +
      command({"GET", "r"});
  EXPECT_EQ(encode(Verb::set_fenced), commands);
  EXPECT_EQ(encode(Verb::set_fenced_and_ttl), commands + command({"PTTL", "r"}));
}

TEST(Encoder, AShortNumberedSetOnlyAsksWhetherTheNumberRose) {
  Encoder encoder;
  const auto encode = [&](Verb verb, std::string_view resource, std::int64_t number) {
    return std::string(test::encode(encoder, verb, ScriptForm::digest, Dialect::with_get, resource,
                                    token(), milliseconds(30'000), number));
  };
  using test::resp::command;
  const auto commands = [](const std::string& resource, const std::string& number) {
    return command({"SET", resource, "t0k", "NX", "PX", "30000", "GET"}) +
           command({"ZADD", "redlock:node:numbers", "GT", "CH", number, resource}) +
           command({"GET", resource});
  };
  EXPECT_EQ(encode(Verb::set_fenced_short, "r", 1'781'000'000'000'000),
            commands("r", "1781000000000000"));
  EXPECT_EQ(encode(Verb::set_fenced_short, "s", 1'781'000'000'000'001),
            commands("s", "1781000000000001"))
      << "written over";
  EXPECT_EQ(encode(Verb::set_fenced_short_and_ttl, "r", 1'781'000'000'000'000),
            commands("r", "1781000000000000") + command({"PTTL", "r"}));
  EXPECT_EQ(
      encode(Verb::read_floor_and_marker, "", 0),
      command({"ZMSCORE", "redlock:node:numbers", ""}) + command({"GET", "redlock:node:marker"}));
}

TEST(Encoder, PlainCommandsTakeThePlaceOfScripts) {
  using test::resp::command;
  Encoder encoder;
  const auto encoded = [&](Verb verb, Dialect dialect, const Terms& terms = {}) {
    return std::string(test::encode(encoder, verb, ScriptForm::digest, dialect, "r", token(),
                                    milliseconds(9), 77, terms));
  };
  const std::string exists =
      command({"EXISTS", "r", "redlock:node:queue:r", "redlock:node:queue:r"});
  EXPECT_EQ(encoded(Verb::release_plain, Dialect::with_get),
            command({"DELIFEQ", "r", "t0k"}) + exists);
  EXPECT_EQ(encoded(Verb::release_plain, Dialect::with_delex),
            command({"DELEX", "r", "IFEQ", "t0k"}) + exists);
  // For a permit: the waiters for any permit count too.
  for (const std::string permit : {"r#7", "s#8"}) {
    const std::string queue = "redlock:node:queue:" + permit;
    const std::string any = queue.substr(0, queue.size() - 1);
    EXPECT_EQ(
        test::encode(encoder, Verb::release_plain, ScriptForm::digest, Dialect::with_get, permit,
                     token(), milliseconds(9), 77),
        command({"DELIFEQ", permit, "t0k"}) + command({"EXISTS", permit, queue, queue, any, any}));
  }
  const std::string extend = command({"SET", "r", "t0k", "IFEQ", "t0k", "GET", "PX", "9"});
  EXPECT_EQ(encoded(Verb::extend_plain, Dialect::with_get), extend);
  EXPECT_EQ(encoded(Verb::repair_plain, Dialect::with_get),
            extend + command({"SET", "r", "t0k", "NX", "PX", "9", "GET"}));
  EXPECT_EQ(encoded(Verb::raise_plain, Dialect::with_get),
            command({"ZMSCORE", "redlock:node:numbers", "r", ""}) +
                command({"ZADD", "redlock:node:numbers", "GT", "77", "r"}) + command({"GET", "r"}));
  const std::vector<std::string> others{"s"};
  EXPECT_EQ(encoded(Verb::set_all, Dialect::with_get, {.more_resources = others}),
            command({"MSETEX", "2", "r", "t0k", "s", "t0k", "NX", "PX", "9"}) +
                command({"MGET", "r", "s"}));
  EXPECT_EQ(encoded(Verb::notify, Dialect::with_get),
            command({"EVALSHA", sha1(scripts::notify), "1", "r", "20"}));
}

TEST(Encoder, AMarkerIsReplacedByATransaction) {
  using test::resp::command;
  const std::string quarantine = "redlock:node:quarantine";
  const std::string end =
      command({"GET", "redlock:node:marker"}) + command({"PTTL", quarantine}) + command({"EXEC"});
  core::MarkerWrite write{0, "old", "new", std::chrono::seconds(30), std::chrono::seconds(1000)};
  Encoder encoder;
  const auto transaction = [&] {
    Terms terms;
    terms.marker = &write;
    return encoder.encode(Verb::mark_plain, ScriptForm::digest, Dialect::with_get, terms);
  };
  EXPECT_EQ(transaction(),
            command({"MULTI"}) + command({"SET", quarantine, "enrolled", "NX", "PX", "30000"}) +
                command({"PEXPIRE", quarantine, "30000", "GT"}) +
                command({"ZADD", "redlock:node:numbers", "GT", "1031000000", "", "inf",
                         std::string(keys::longest_number_name)}) +
                command({"SET", "redlock:node:marker", "new 1000000000", "IFEQ", "old"}) + end);
  write.expected.clear();
  write.quarantine = {};
  const std::string left = command({"PTTL", quarantine});
  EXPECT_EQ(transaction(), command({"MULTI"}) + left + left + left +
                               command({"SET", "redlock:node:marker", "new 1000000000", "NX"}) +
                               end)
      << "as many answers";
}

TEST(Encoder, AReignIsReadAfterAWriteAndItsAttachmentsLast) {
  using test::resp::command;
  Encoder encoder;
  Terms terms;
  terms.acknowledgements = 2;
  terms.within = milliseconds(60);
  const auto reading = [&] {
    return std::string(
        encoder.encode(Verb::read_reign, ScriptForm::digest, Dialect::classic, terms));
  };
  const auto ending_with = [](const std::string& replicas, const std::string& limit) {
    return command({"SET", "redlock:node:beat", "1"}) +
           command({"ZMSCORE", "redlock:node:numbers", ""}) +
           command({"GET", "redlock:node:marker"}) + command({"GET", "redlock:node:reign"}) +
           command({"WAIT", replicas, limit}) + command({"INFO", "stats"}) +
           command({"INFO", "replication"});
  };
  EXPECT_EQ(reading(), ending_with("2", "60"));
  terms.acknowledgements = 1;
  terms.within = std::chrono::microseconds(1);
  EXPECT_EQ(reading(), ending_with("1", "1")) << "0 would be for ever";
}

TEST(Encoder, NumbersAreTended) {
  Encoder encoder;
  EXPECT_EQ(test::encode(encoder, Verb::prune_fencing_numbers, ScriptForm::digest, Dialect::classic,
                         {}, Token(), {}),
            test::resp::command({"EVALSHA", sha1(scripts::prune), "1", "redlock:node:numbers"}));
}

TEST(Encoder, ANameIsKeptByTheIdOfTheClient) {
  Encoder encoder;
  Terms terms;
  terms.name = "backup on db3";
  EXPECT_EQ(
      test::encode(encoder, Verb::write_name, ScriptForm::digest, Dialect::classic, {}, token(),
                   milliseconds(60'000), 0, terms),
      test::resp::command({"SET", "redlock:node:client:t0k", "backup on db3", "PX", "60000"}));
}

TEST(Encoder, AnAuditNamesTheTokenAndTheOperator) {
  Encoder encoder;
  Terms terms;
  terms.name = "me";
  EXPECT_EQ(
      test::encode(encoder, Verb::write_audit, ScriptForm::digest, Dialect::classic, "r", token(),
                   {}, 0, terms),
      test::resp::command({"EVALSHA", sha1(scripts::audit), "1", "r", "t0k", "me", "86400000"}));
}

TEST(Encoder, ABrokenLockIsKeptByAnotherToken) {
  Encoder encoder;
  Terms terms;
  terms.keeper = "keeper";
  const auto encoded = [&](core::Duration delay) {
    return std::string(test::encode(encoder, Verb::break_lock, ScriptForm::digest, Dialect::classic,
                                    "r", token(), delay, 0, terms));
  };
  const auto expected = [](std::string_view delay) {
    return test::resp::command(
        {"EVALSHA", sha1(scripts::break_lock), "1", "r", "t0k", std::string(delay), "keeper"});
  };
  EXPECT_EQ(encoded(milliseconds(1500)), expected("1500"));
  EXPECT_EQ(encoded(std::chrono::microseconds(1)), expected("1")) << "not a fraction less";
}

TEST(Encoder, QueuesAreOfAResource) {
  using test::resp::command;
  Encoder encoder;
  Terms terms;
  const auto encoded = [&](Verb verb) {
    return std::string(test::encode(encoder, verb, ScriptForm::digest, Dialect::classic, "r",
                                    token(), {}, 1, terms));
  };
  const std::string join = sha1(scripts::queue);
  EXPECT_EQ(encoded(Verb::join_queue),
            command({"EVALSHA", join, "1", "r", "t0k", "30000", "1", "0", "20"}));
  EXPECT_EQ(encoded(Verb::leave_queue),
            command({"EVALSHA", sha1(scripts::leave), "1", "r", "t0k", "1", "20"}));
  terms.ticket = 7;
  EXPECT_EQ(encoded(Verb::join_queue),
            command({"EVALSHA", join, "1", "r", "t0k", "30000", "1", "7", "20"}));
}

TEST(Encoder, AsksForTheTime) {
  Encoder encoder;
  EXPECT_EQ(test::encode(encoder, Verb::read_clock, ScriptForm::digest, Dialect::classic, {},
                         Token(), {}),
            test::resp::command({"TIME"}));
}

TEST(Encoder, TheOldConnectionIsKilledByItsId) {
  Encoder encoder;
  EXPECT_EQ(test::encode(encoder, Verb::kill_old, ScriptForm::digest, Dialect::classic, "", Token(),
                         core::Duration::zero(), std::numeric_limits<std::int64_t>::max()),
            "*4\r\n$6\r\nCLIENT\r\n$4\r\nKILL\r\n$2\r\nID\r\n$19\r\n9223372036854775807\r\n");
}

TEST(Encoder, ResourcesAndTokensAreSentByteForByte) {
  Encoder encoder;
  const std::string resource("a\r\n\0$%s b", 9);
  const std::string bytes("\xff\0\n", 3);
  EXPECT_EQ(test::encode(encoder, Verb::set, ScriptForm::digest, Dialect::classic, resource,
                         Token::parse(bytes).value(), milliseconds(1)),
            test::resp::command({"SET", resource, bytes, "NX", "PX", "1"}));
}

TEST(Encoder, AUsedEncoderWritesWhatANewOneWrites) {
  Encoder used;
  for (const ScriptForm form : {ScriptForm::digest, ScriptForm::text}) {
    for (const Dialect dialect : {Dialect::classic, Dialect::with_get, Dialect::with_delex}) {
      for (const auto* resource : {"a", "b", "longer", "$1\r\nx", "b", "LONGER", "c"}) {
        for (const auto* letters : {"t0k", "tok", "an0ther", "t"}) {
          for (const Row* row : rows()) {
            if (core::is_marker_write(row->verb)) continue;  // their terms are a marker's
            const Verb verb = row->verb;
            for (const int ttl : {5, 5, 5000, 6000}) {
              const Token token = Token::parse(letters).value();
              Encoder fresh;
              EXPECT_EQ(
                  test::encode(used, verb, form, dialect, resource, token, milliseconds(ttl), ttl),
                  test::encode(fresh, verb, form, dialect, resource, token, milliseconds(ttl),
                               ttl));
            }
          }
        }
      }
    }
  }
}

TEST(Encoder, EveryCallStartsAnew) {
  Encoder encoder;
  const std::string first(test::encode(encoder, Verb::set, ScriptForm::digest, Dialect::classic,
                                       "r", token(), milliseconds(1)));
  EXPECT_EQ(test::encode(encoder, Verb::set, ScriptForm::digest, Dialect::classic, "r", token(),
                         milliseconds(1)),
            first);
}

}  // namespace
}  // namespace redlock::redis
