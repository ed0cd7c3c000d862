#include "redis/values/classify.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/vocabulary/for_people.hpp"
#include "redis/requests/row.hpp"
#include "redlock/limits.hpp"
#include "unit/redis/values.hpp"

namespace redlock::redis {
namespace {

using core::Reply;
using core::Verb;
using std::chrono::milliseconds;
using Type = Value::Type;

constexpr std::array every_form{Dialect::classic, Dialect::with_get, Dialect::with_delex};

Value nil() { return {}; }

std::optional<core::Answer> classify(Verb verb, Dialect form, const Value& first,
                                     const Value* second) {
  std::vector<const Value*> values{&first};
  if (second != nullptr) values.push_back(second);
  return redis::classify(verb, form, values);
}

/// Owns the values that an array points to.
struct Inspected {
  explicit Inspected(std::vector<Value> values) : parts(std::move(values)) {
    array.type = Type::array;
    for (const Value& part : parts) array.elements.push_back(&part);
  }
  Inspected(const Inspected&) = delete;
  Inspected& operator=(const Inspected&) = delete;
  ~Inspected() = default;
  std::vector<Value> parts;
  Value array;
};

/// The answer's meaning as text for failures: "taken by 'x' for 5 ms".
std::string meaning(const std::optional<core::Answer>& answer) {
  if (!answer) return "violation";
  std::string out;
  switch (answer->reply) {
    case Reply::granted:
      out = "granted";
      break;
    case Reply::taken:
      out = "taken";
      break;
    case Reply::extended:
      out = "extended";
      break;
    case Reply::repaired:
      out = "repaired";
      break;
    case Reply::gone:
      out = "gone";
      break;
    case Reply::released:
      out = "released";
      break;
    case Reply::found:
      out = "found";
      break;
    case Reply::script_needed:
      out = "script needed";
      break;
    case Reply::done:
      out = "done";
      break;
    case Reply::marker:
      out = "marker";
      break;
    case Reply::error:
      out = "error";
      break;
    case Reply::script_missing:
      out = "script_missing";
      break;
    case Reply::failed:
      out = "failed";
      break;
    case Reply::behind:
      out = "behind";
      break;
    case Reply::clock:
      out = "clock " + std::to_string(answer->time / std::chrono::microseconds(1));
      break;
  }
  if (answer->number != 0) out += " #" + std::to_string(answer->number);
  if (!answer->text.empty()) out += " '" + std::string(answer->text) + "'";
  if (answer->remaining) {
    out +=
        " " + std::to_string(std::chrono::duration_cast<milliseconds>(*answer->remaining).count());
  }
  return out;
}

std::string meaning(Verb verb, Dialect form, const Value& first) {
  return meaning(classify(verb, form, first, nullptr));
}
std::string meaning(Dialect form, const Value& set, const Value& pttl) {
  return meaning(classify(Verb::set_and_ttl, form, set, &pttl));
}

TEST(Classify, APlainSetIsGrantedByOkAndRefusedByNil) {
  EXPECT_EQ(meaning(Verb::set, Dialect::classic, status("OK")), "granted");
  EXPECT_EQ(meaning(Verb::set, Dialect::classic, nil()), "taken");
  EXPECT_EQ(meaning(Verb::set, Dialect::classic, bulk("x")), "violation");
  EXPECT_EQ(meaning(Verb::set, Dialect::classic, status("QUEUED")), "violation");
}

TEST(Classify, ASetWithGetIsGrantedByNilAndRefusedByTheHolder) {
  EXPECT_EQ(meaning(Verb::set, Dialect::with_get, nil()), "granted");
  EXPECT_EQ(meaning(Verb::set, Dialect::with_get, bulk("abc")), "taken 'abc'");
  EXPECT_EQ(meaning(Verb::set, Dialect::with_get, bulk("")), "taken");
  EXPECT_EQ(meaning(Verb::set, Dialect::with_get, status("OK")), "violation");
}

TEST(Classify, AKeyOfAnotherTypeIsSomebodyElses) {
  const Value wrong = error("WRONGTYPE Operation against a key holding the wrong kind of value");
  EXPECT_EQ(meaning(Verb::set, Dialect::with_get, wrong), "taken");
  EXPECT_EQ(meaning(Dialect::with_get, wrong, integer(5)), "taken 5");
}

TEST(Classify, AHolderLongerThanATokenIsCutToWhatEqualsNoToken) {
  const std::string longest(limits::token_bytes, 'x');
  const Value exact = bulk(longest);
  EXPECT_EQ(classify(Verb::set, Dialect::with_get, exact, nullptr)->text, longest);
  const Value longer = bulk(std::string(100'000, 'x'));
  EXPECT_EQ(classify(Verb::set, Dialect::with_get, longer, nullptr)->text, longest + "x");
}

TEST(Classify, PttlTellsForHowLongARefusalLasts) {
  EXPECT_EQ(meaning(Dialect::classic, nil(), integer(1500)), "taken 1500");
  EXPECT_EQ(meaning(Dialect::classic, nil(), integer(0)), "taken 0");
  EXPECT_EQ(meaning(Dialect::classic, nil(), integer(-1)), "taken");
  EXPECT_EQ(meaning(Dialect::classic, nil(), integer(-2)), "taken 0");
  EXPECT_EQ(meaning(Dialect::classic, nil(), integer(-3)), "violation");
  EXPECT_EQ(meaning(Dialect::with_get, bulk("h"), integer(9)), "taken 'h' 9");
  EXPECT_EQ(meaning(Dialect::with_get, bulk("h"), error("NOPERM no PTTL for you")), "taken 'h'");
  EXPECT_EQ(meaning(Dialect::with_get, bulk("h"), nil()), "violation");
}

TEST(Classify, PttlOfAGrantedKeyIsOurOwnAndIsIgnored) {
  EXPECT_EQ(meaning(Dialect::classic, status("OK"), integer(10'000)), "granted");
  EXPECT_EQ(meaning(Dialect::with_get, nil(), integer(10'000)), "granted");
}

TEST(Classify, ATimeBeyondNanosecondsDoesNotOverflow) {
  const Value endless = integer(std::numeric_limits<std::int64_t>::max());
  const auto answer = classify(Verb::set_and_ttl, Dialect::classic, nil(), &endless);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->remaining, core::Duration::max());
}

TEST(Classify, ErrorsAreKeptWordForWord) {
  for (const char* text :
       {"LOADING Redis is loading the dataset in memory",
        "READONLY You can't write against a read only replica.",
        "OOM command not allowed when used memory > 'maxmemory'.",
        "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist",
        "NOAUTH Authentication required.", "NOPERM this user has no permissions",
        "MASTERDOWN Link with MASTER is down", "NOREPLICAS Not enough good replicas to write.",
        "BUSY Redis is busy running a script.", "CLUSTERDOWN The cluster is down", "ERR", ""}) {
    for (const Row* row : rows()) {
      const Verb verb = row->verb;
      for (const Dialect form : every_form) {
        const Value value = error(text);
        const std::vector<const Value*> values(values_expected(verb), &value);
        const auto answer = redis::classify(verb, form, values);
        ASSERT_TRUE(answer);
        const bool asks_a_script = answer->reply == Reply::script_needed;
        EXPECT_TRUE(answer->reply == Reply::error || asks_a_script);
        EXPECT_EQ(answer->text, text);
      }
    }
  }
}

TEST(Classify, AMissingScriptIsDistinguishedForScriptsOnly) {
  const Value missing = error("NOSCRIPT No matching script. Please use EVAL.");
  for (const Verb verb : {Verb::extend, Verb::extend_or_set, Verb::release, Verb::inspect}) {
    EXPECT_EQ(classify(verb, Dialect::classic, missing, nullptr)->reply, Reply::script_missing);
  }
  EXPECT_EQ(classify(Verb::set, Dialect::classic, missing, nullptr)->reply, Reply::error);
  EXPECT_EQ(classify(Verb::kill_old, Dialect::classic, missing, nullptr)->reply, Reply::error);
}

TEST(Classify, AnExtendIsAnsweredByFourNumbers) {
  const auto of = [](Verb verb, std::int64_t number) {
    return meaning(verb, Dialect::classic, integer(number));
  };
  EXPECT_EQ(of(Verb::extend, 1), "extended");
  EXPECT_EQ(of(Verb::extend, 0), "gone");
  EXPECT_EQ(of(Verb::extend, -1), "taken");
  EXPECT_EQ(of(Verb::extend, 2), "violation");
  EXPECT_EQ(of(Verb::extend_or_set, 1), "extended");
  EXPECT_EQ(of(Verb::extend_or_set, 2), "repaired");
  EXPECT_EQ(of(Verb::extend_or_set, -1), "taken");
  EXPECT_EQ(of(Verb::extend_or_set, 3), "violation");
}

TEST(Classify, AReleaseIsAnsweredByThreeNumbers) {
  for (const Verb verb : {Verb::release, Verb::break_lock}) {
    const auto of = [verb](std::int64_t number) {
      return meaning(verb, Dialect::classic, integer(number));
    };
    EXPECT_EQ(of(1), "released");
    EXPECT_EQ(of(0), "gone");
    EXPECT_EQ(of(-1), "taken");
    EXPECT_EQ(of(2), "violation");
    EXPECT_EQ(of(-2), "violation");
  }
}

/// The details for people about a resource without waiters.
Value nobody() { return bulk("1:00:0:0:0:0:"); }

TEST(Classify, AnInspectionTellsHolderAndTimeTogether) {
  const auto of = [](Value holder, Value pttl, Value kind) {
    const Inspected answer(
        {std::move(holder), std::move(pttl), std::move(kind), integer(0), integer(-2), nobody()});
    return meaning(Verb::inspect, Dialect::classic, answer.array);
  };
  EXPECT_EQ(of(bulk("me"), integer(12), bulk("string")), "found 'me' 12");
  EXPECT_EQ(of(bulk("me"), integer(-1), bulk("string")), "found 'me'");
  EXPECT_EQ(of(nil(), integer(-2), bulk("none")), "gone");
  EXPECT_EQ(of(nil(), integer(7), bulk("hash")), "found 7");
  EXPECT_EQ(of(bulk("me"), integer(7), bulk("none")), "violation");
  EXPECT_EQ(of(integer(1), integer(7), bulk("string")), "violation");
  EXPECT_EQ(of(bulk("me"), bulk("7"), bulk("string")), "violation");
  EXPECT_EQ(of(bulk("me"), integer(-9), bulk("string")), "violation");
  EXPECT_EQ(of(bulk("me"), integer(7), nil()), "violation");
}

TEST(Classify, AnInspectionTellsNumberAndQuarantine) {
  const Inspected answer(
      {bulk("me"), integer(12), bulk("string"), integer(77), integer(3000), nobody()});
  const auto classified = classify(Verb::inspect, Dialect::classic, answer.array, nullptr);
  ASSERT_TRUE(classified);
  EXPECT_EQ(classified->number, 77U);
  EXPECT_EQ(classified->time, milliseconds(3000));
  const Inspected negative(
      {bulk("me"), integer(12), bulk("string"), integer(-1), integer(-2), nobody()});
  EXPECT_EQ(meaning(Verb::inspect, Dialect::classic, negative.array), "violation");
}

TEST(Classify, AnInspectionTellsPeopleWhoWaitsAndWhatOperatorsDid) {
  const auto of = [](const std::string& for_people) {
    const Inspected answer(
        {bulk("me"), integer(12), bulk("string"), integer(0), integer(-2), bulk(for_people)});
    const auto classified = classify(Verb::inspect, Dialect::classic, answer.array, nullptr);
    return classified ? std::string(classified->for_people) : "violation";
  };
  const std::string good = "2:122:id3:ann3:bob13:4:12342:tk1:x5:1:a0:";
  EXPECT_EQ(of(good), good);
  const auto people = core::parse_for_people(good);
  ASSERT_TRUE(people);
  EXPECT_EQ(people->waiters, 12U);
  EXPECT_EQ(people->next, "id");
  EXPECT_EQ(people->next_name, "ann");
  EXPECT_EQ(people->holder_name, "bob");
  std::string_view audit = people->audit;
  const auto entry = core::take_audit(audit);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->milliseconds, 1234);
  EXPECT_EQ(entry->token, "tk");
  EXPECT_EQ(entry->name, "x");
  for (const std::string odd :
       {"", "1:0", "1:x0:0:0:0:0:", "2:-10:0:0:0:0:", "11:999999999990:0:0:0:0:", "1:00:0:0:0:",
        "1:00:0:0:0:0:0:", "1:00:0:0:1:x0:", "1:00:0:0:3:1:10:",
        "1:00:0:0:21:14:900000000000010:0:0:", "1:00:0:0:0:1:x"}) {
    EXPECT_EQ(of(odd), "violation") << odd;
  }
}

TEST(Classify, AFencedSetTellsLockAndNumberTogether) {
  const auto of = [](std::vector<Value> values) {
    const Inspected answer(std::move(values));
    return meaning(Verb::take, Dialect::classic, answer.array);
  };
  EXPECT_EQ(of({integer(1), integer(5000)}), "granted #5000");
  EXPECT_EQ(of({integer(2), integer(7000)}), "behind #7000");
  EXPECT_EQ(of({integer(-1), bulk("you"), integer(12)}), "taken 'you' 12");
  EXPECT_EQ(of({integer(-1), bulk(""), integer(-1)}), "taken");
  EXPECT_EQ(of({integer(-1), bulk("you"), integer(12), integer(2)}), "taken #2 'you' 12")
      << "the second of several resources";
  EXPECT_EQ(of({integer(-1), bulk("you"), integer(12), integer(0)}), "violation");
  EXPECT_EQ(of({integer(-1), bulk("you"), integer(12), bulk("")}), "violation");
  EXPECT_EQ(of({integer(3), integer(7000)}), "violation");
  EXPECT_EQ(of({integer(1), integer(-1)}), "violation");
  EXPECT_EQ(of({integer(1), integer(std::int64_t{1} << 53)}), "violation");
  EXPECT_EQ(of({integer(1)}), "violation");
  EXPECT_EQ(of({integer(-1), bulk("you")}), "violation");
}

TEST(Classify, AHoldTellsHowManyThereAre) {
  const auto of = [](Verb verb, std::vector<Value> values) {
    const Inspected answer(std::move(values));
    const auto classified = classify(verb, Dialect::classic, answer.array, nullptr);
    std::string text = meaning(classified);
    if (classified && classified->holds) text += " of " + std::to_string(classified->holds->count);
    return text;
  };
  EXPECT_EQ(of(Verb::enter, {integer(1), integer(3)}), "granted of 3");
  EXPECT_EQ(of(Verb::enter, {integer(-1), bulk("owner me"), integer(12)}), "taken 'owner me' 12");
  EXPECT_EQ(of(Verb::enter, {integer(1), integer(-1)}), "violation");
  EXPECT_EQ(of(Verb::enter, {integer(2), integer(1)}), "violation");
  EXPECT_EQ(of(Verb::enter, {integer(1)}), "violation");
  EXPECT_EQ(of(Verb::extend, {integer(1), integer(2)}), "extended of 2");
  EXPECT_EQ(of(Verb::downgrade, {integer(1), integer(1)}), "extended of 1");
  EXPECT_EQ(of(Verb::release, {integer(1), integer(0)}), "released of 0");
  EXPECT_EQ(of(Verb::release, {integer(0), integer(0)}), "gone of 0");
  EXPECT_EQ(of(Verb::release, {integer(-1), integer(4)}), "taken of 4");
  EXPECT_EQ(of(Verb::release, {integer(2), integer(4)}), "violation");
}

TEST(Classify, ARefusedPermitReportsWhichAreFree) {
  const auto of = [](std::vector<Value> values) {
    const Inspected answer(std::move(values));
    return meaning(Verb::take_permit, Dialect::classic, answer.array);
  };
  EXPECT_EQ(of({integer(1), bulk("")}), "granted");
  EXPECT_EQ(of({integer(-1), bulk("0110"), integer(7)}), "taken '0110' 7");
  EXPECT_EQ(of({integer(-1), bulk("0110")}), "violation");
  EXPECT_EQ(of({integer(0), bulk("")}), "violation");
  EXPECT_EQ(of({integer(-1), integer(1), integer(7)}), "violation");
}

TEST(Classify, AnInspectionOfHoldsTellsTheGroupAndWhetherTheTokenIsThere) {
  const Inspected answer({nil(), integer(12), bulk("zset"), integer(0), integer(-2), nobody(),
                          bulk("6:shared"), integer(2), integer(1)});
  const auto classified = classify(Verb::inspect, Dialect::classic, answer.array, nullptr);
  ASSERT_TRUE(classified && classified->holds);
  EXPECT_EQ(classified->text, "6:shared");
  EXPECT_EQ(classified->holds->count, 2U);
  EXPECT_TRUE(classified->holds->asked_for);
  const Inspected odd({nil(), integer(12), bulk("zset"), integer(0), integer(-2), nobody(),
                       bulk("6:shared"), integer(2), integer(7)});
  EXPECT_EQ(meaning(Verb::inspect, Dialect::classic, odd.array), "violation");
}

TEST(Classify, AnInspectionOfHoldsTellsSoManyTokensAndNoLongerOnes) {
  const auto of = [](const std::string& texts) {
    const Inspected answer({nil(), integer(12), bulk("zset"), integer(0), integer(-2), nobody(),
                            bulk(texts), integer(2), integer(0)});
    return meaning(Verb::inspect, Dialect::classic, answer.array);
  };
  const auto texts = [](std::size_t count, const std::string& text) {
    std::string all = "6:shared";
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
  };
  const std::string longest =
      std::to_string(limits::token_bytes + 1) + ":" + std::string(limits::token_bytes + 1, 'x');
  const std::string longer =
      std::to_string(limits::token_bytes + 2) + ":" + std::string(limits::token_bytes + 2, 'x');
  for (const std::string& good :
       {texts(0, ""), texts(1, "3:a:b"), texts(2, "0:"), texts(limits::holds_listed, longest)}) {
    EXPECT_EQ(of(good), "found '" + good + "' 12");
  }
  for (const std::string& bad :
       {std::string(), texts(limits::holds_listed + 1, "1:x"), texts(1, longer), texts(1, "x"),
        texts(1, "3:ab"), texts(1, "3"), texts(1, "-1:"), texts(1, "99999999999999999999:x")}) {
    EXPECT_EQ(of(bad), "violation") << bad;
  }
}

class ClassifyNumbered : public testing::Test {
 protected:
  [[nodiscard]] std::string meaning_of(const Value& set, const Value& number, const Value& floor,
                                       const Value& raised, const Value& holder) const {
    const Inspected scores({number, floor});
    return meaning(classify(Verb::set_fenced, {&set, &scores.array, &raised, &holder}));
  }
  [[nodiscard]] static std::optional<core::Answer> classify(Verb verb,
                                                            std::vector<const Value*> values) {
    return redis::classify(verb, Dialect::with_get, values);
  }
  const Value granted_ = nil();
  const Value one_ = integer(1);
  const Value zero_ = integer(0);
};

TEST_F(ClassifyNumbered, TellsTheHighestThereWasAndWhoHasTheKeyNow) {
  EXPECT_EQ(meaning_of(granted_, bulk("5000"), bulk("40"), zero_, bulk("me")),
            "granted #5000 'me'");
  EXPECT_EQ(meaning_of(granted_, nil(), bulk("40"), one_, bulk("me")), "granted #40 'me'");
  EXPECT_EQ(meaning_of(granted_, bulk("1.781e+15"), bulk("0"), zero_, bulk("me")),
            "granted #1781000000000000 'me'");
}

TEST_F(ClassifyNumbered, WhatIsMissingLeavesTheNumberOpen) {
  const Value refusal = error("NOPERM");
  EXPECT_EQ(meaning_of(granted_, bulk("5000"), nil(), zero_, bulk("me")), "behind #5000");
  EXPECT_EQ(meaning_of(granted_, nil(), nil(), one_, bulk("me")), "behind");
  EXPECT_EQ(meaning_of(granted_, bulk("5"), bulk("4"), refusal, bulk("me")), "behind #5");
  EXPECT_EQ(meaning_of(granted_, bulk("5"), bulk("4"), zero_, nil()), "behind #5");
  EXPECT_EQ(meaning(classify(Verb::set_fenced, {&granted_, &refusal, &zero_, &one_})), "behind");
}

TEST_F(ClassifyNumbered, ANumberThatIsNoneOfOursIsTheHighest) {
  for (const auto* score : {"-1", "inf", "nan", "1e300", "9007199254740992", "x", ""}) {
    EXPECT_EQ(meaning_of(granted_, bulk(score), bulk("0"), zero_, bulk("me")),
              "granted #9007199254740991 'me'")
        << score;
  }
}

TEST_F(ClassifyNumbered, ARefusalIsThatOfTheSet) {
  EXPECT_EQ(meaning_of(bulk("you"), bulk("5"), bulk("4"), zero_, bulk("you")), "taken 'you'");
  EXPECT_EQ(meaning_of(error("OOM x"), bulk("5"), bulk("4"), zero_, nil()), "error 'OOM x'");
  const Inspected scores({nil(), nil()});
  const Value holder = bulk("you");
  const Value left = integer(7);
  EXPECT_EQ(
      meaning(classify(Verb::set_fenced_and_ttl, {&holder, &scores.array, &one_, &holder, &left})),
      "taken 'you' 7");
}

TEST_F(ClassifyNumbered, InShortTellsWhetherTheNumberRose) {
  const Value me = bulk("me");
  const Value none = nil();
  const Value refusal = error("NOPERM");
  const auto in_short = [&](const Value& set, const Value& raised, const Value& holder) {
    return meaning(classify(Verb::set_fenced_short, {&set, &raised, &holder}));
  };
  EXPECT_EQ(in_short(granted_, one_, me), "granted 'me'");
  EXPECT_EQ(in_short(granted_, zero_, me), "behind");
  EXPECT_EQ(in_short(granted_, refusal, me), "behind");
  EXPECT_EQ(in_short(granted_, one_, none), "behind");
  EXPECT_EQ(in_short(me, one_, me), "taken 'me'");
  EXPECT_EQ(in_short(granted_, integer(2), me), "violation");
  EXPECT_EQ(in_short(granted_, me, me), "violation");
  const Value left = integer(7);
  EXPECT_EQ(meaning(classify(Verb::set_fenced_short_and_ttl, {&me, &one_, &me, &left})),
            "taken 'me' 7");
  EXPECT_EQ(meaning(classify(Verb::set_fenced_short_and_ttl, {&granted_, &one_, &me, &left})),
            "granted 'me'");
}

TEST_F(ClassifyNumbered, TheFloorIsReadWithTheMarker) {
  const Value marker = bulk("m");
  const auto read = [&](const Value& scores) {
    return meaning(classify(Verb::read_floor_and_marker, {&scores, &marker}));
  };
  const Value floor = bulk("40");
  Value scores;
  scores.type = Value::Type::array;
  scores.elements = {&floor};
  EXPECT_EQ(read(scores), "marker #40 'm'");
  const Value none = nil();
  scores.elements = {&none};
  EXPECT_EQ(read(scores), "marker 'm'");
  EXPECT_EQ(read(error("NOPERM")), "marker 'm'");
  scores.elements = {&one_};
  EXPECT_EQ(read(scores), "violation");
  scores.elements = {&floor, &floor};
  EXPECT_EQ(read(scores), "violation");
  EXPECT_EQ(read(floor), "violation");
}

TEST_F(ClassifyNumbered, OtherShapesAreViolations) {
  EXPECT_EQ(meaning_of(granted_, integer(5), bulk("4"), zero_, bulk("me")), "violation");
  EXPECT_EQ(meaning_of(granted_, bulk("5"), integer(4), zero_, bulk("me")), "violation");
  EXPECT_EQ(meaning(classify(Verb::set_fenced, {&granted_, &granted_, &zero_, &one_})),
            "violation");
  EXPECT_EQ(meaning(classify(Verb::set_fenced, {&granted_})), "violation");
}

TEST(ClassifyPlain, AReleaseTellsWhetherClientsAreQueued) {
  const auto of = [](const Value& deleted, const Value& left) {
    const auto answer = classify(Verb::release_plain, Dialect::with_get, deleted, &left);
    return meaning(answer) + (answer && answer->queued ? ", queued" : "");
  };
  EXPECT_EQ(of(integer(1), integer(0)), "released");
  EXPECT_EQ(of(integer(1), integer(2)), "released, queued");
  EXPECT_EQ(of(integer(1), integer(3)), "released, queued") << "and somebody has it already";
  EXPECT_EQ(of(integer(1), integer(4)), "released, queued") << "for any permit, too";
  EXPECT_EQ(of(integer(1), integer(5)), "released, queued");
  EXPECT_EQ(of(integer(0), integer(0)), "gone");
  EXPECT_EQ(of(integer(0), integer(2)), "gone");
  EXPECT_EQ(of(integer(0), integer(1)), "taken");
  EXPECT_EQ(of(integer(0), integer(3)), "taken");
  EXPECT_EQ(of(integer(1), error("NOPERM EXISTS")), "released");
  EXPECT_EQ(of(error("WRONGTYPE x"), integer(1)), "script needed 'WRONGTYPE x'");
  EXPECT_EQ(of(error("NOPERM x"), integer(1)), "script needed 'NOPERM x'");
  EXPECT_EQ(of(error("OOM x"), integer(1)), "script needed 'OOM x'");
  EXPECT_EQ(of(error("READONLY x"), integer(1)), "error 'READONLY x'");
  EXPECT_EQ(of(integer(2), integer(0)), "violation");
  EXPECT_EQ(of(integer(1), integer(6)), "violation");
  EXPECT_EQ(of(status("OK"), integer(0)), "violation");
}

TEST(ClassifyPlain, AnExtendTellsWhoseKeyItWas) {
  const auto of = [](const Value& value) {
    return meaning(Verb::extend_plain, Dialect::with_get, value);
  };
  EXPECT_EQ(of(bulk("me")), "taken 'me'") << "the core compares it with the token";
  EXPECT_EQ(of(nil()), "gone");
  EXPECT_EQ(of(error("WRONGTYPE x")), "taken");
  EXPECT_EQ(of(error("OOM x")), "script needed 'OOM x'");
  EXPECT_EQ(of(status("OK")), "violation");
}

TEST(ClassifyPlain, ARepairIsTheSetBehindTheExtend) {
  const auto of = [](const Value& extended, const Value& set) {
    return meaning(classify(Verb::repair_plain, Dialect::with_get, extended, &set));
  };
  EXPECT_EQ(of(bulk("me"), bulk("me")), "taken 'me'");
  EXPECT_EQ(of(nil(), nil()), "repaired");
  EXPECT_EQ(of(nil(), bulk("me")), "taken") << "of an earlier request, with its TTL";
  EXPECT_EQ(of(nil(), error("OOM x")), "error 'OOM x'");
  EXPECT_EQ(of(nil(), integer(1)), "violation");
}

TEST_F(ClassifyNumbered, ARaiseIsWhatIsBehindTheSet) {
  const Inspected scores({bulk("5000"), bulk("40")});
  const Value holder = bulk("me");
  EXPECT_EQ(meaning(classify(Verb::raise_plain, {&scores.array, &zero_, &holder})),
            "granted #5000 'me'");
  EXPECT_EQ(meaning(classify(Verb::raise_plain, {&scores.array, &zero_, &granted_})),
            "behind #5000");
}

TEST(ClassifyPlain, ATransactionNamesTheMarkerAndItsQuarantine) {
  const auto of = [](const Value& marker, const Value& left) {
    const Inspected executed({nil(), integer(1), integer(0), status("OK"), marker, left});
    const Value queued = status("QUEUED");
    std::vector<const Value*> values(8, &queued);
    values[7] = &executed.array;
    const auto answer = redis::classify(Verb::mark_plain, Dialect::with_get, values);
    if (!answer) return std::string("violation");
    return std::string(answer->text) + " " +
           std::to_string(std::chrono::ceil<std::chrono::milliseconds>(answer->time).count());
  };
  EXPECT_EQ(of(bulk("marker"), integer(1234)), "marker 1234");
  EXPECT_EQ(of(bulk("marker"), integer(-2)), "marker 0");
  EXPECT_GT(of(bulk("marker"), integer(-1)).size(), 12U) << "without an end";
  EXPECT_EQ(of(nil(), integer(1)), "violation") << "it was just written";
  const Inspected half(
      {nil(), integer(1), error("WRONGTYPE x"), status("OK"), bulk("m"), integer(1)});
  const Value ok = status("OK");
  std::vector<const Value*> halves(8, &ok);
  halves[7] = &half.array;
  EXPECT_EQ(meaning(redis::classify(Verb::mark_plain, Dialect::with_get, halves)),
            "error 'WRONGTYPE x'");
  const Value aborted = error("EXECABORT NOPERM");
  const Value queued = status("QUEUED");
  std::vector<const Value*> values(8, &queued);
  values[7] = &aborted;
  EXPECT_EQ(redis::classify(Verb::mark_plain, Dialect::with_get, values)->reply, Reply::error);
}

TEST(ClassifyPlain, SeveralResourcesAreSetOrNameAHolder) {
  const auto of = [](const Value& set, std::vector<Value> holders) {
    const Inspected values(std::move(holders));
    return meaning(classify(Verb::set_all, Dialect::with_get, set, &values.array));
  };
  EXPECT_EQ(of(integer(1), {bulk("me"), bulk("me")}), "granted");
  EXPECT_EQ(of(integer(0), {nil(), bulk("you")}), "taken #2 'you'");
  EXPECT_EQ(of(integer(0), {nil(), nil()}), "taken") << "of another type, or gone by now";
  EXPECT_EQ(of(error("NOPERM x"), {nil(), nil()}), "script needed 'NOPERM x'");
  EXPECT_EQ(of(integer(2), {}), "violation");
  EXPECT_EQ(meaning(classify(Verb::set_all, Dialect::with_get, integer(0), nullptr)), "violation");
}

TEST(Classify, AClockIsReadInMicroseconds) {
  const auto of = [](std::vector<Value> values) {
    const Inspected answer(std::move(values));
    return meaning(Verb::read_clock, Dialect::classic, answer.array);
  };
  EXPECT_EQ(of({bulk("17"), bulk("000042")}), "clock 17000042");
  EXPECT_EQ(of({bulk("-17"), bulk("42")}), "violation");
  EXPECT_EQ(of({bulk("17"), bulk("1000000")}), "violation");
  EXPECT_EQ(of({bulk("17x"), bulk("42")}), "violation");
  EXPECT_EQ(of({bulk("17")}), "violation");
  EXPECT_EQ(of({integer(17), integer(42)}), "violation");
}

TEST(Classify, AKilledConnectionIsCounted) {
  EXPECT_EQ(meaning(Verb::kill_old, Dialect::classic, integer(1)), "done");
  EXPECT_EQ(meaning(Verb::kill_old, Dialect::classic, integer(0)), "done");
  EXPECT_EQ(meaning(Verb::kill_old, Dialect::classic, integer(-1)), "violation");
  EXPECT_EQ(meaning(Verb::kill_old, Dialect::classic, status("OK")), "violation");
}

TEST(Classify, IsTotalOverVerbsFormsAndKindsOfValuesAndNeverInventsAGrant) {
  Value empty_array;
  empty_array.type = Type::array;
  const std::vector<Value> values{
      status("OK"), status(""),  error("ERR x"), error(""),  bulk("x"),  bulk(""), integer(-3),
      integer(-2),  integer(-1), integer(0),     integer(1), integer(2), nil(),    empty_array};
  for (const Row* row : rows()) {
    const Verb verb = row->verb;
    for (const Dialect form : every_form) {
      for (const Value& first : values) {
        std::vector<const Value*> seconds{nullptr};
        for (const Value& second : values) seconds.push_back(&second);
        for (const Value* second : seconds) {
          const auto answer = classify(verb, form, first, second);
          if ((second != nullptr ? 2U : 1U) != values_expected(verb)) {
            EXPECT_FALSE(answer);
            continue;
          }
          if (!answer) continue;
          EXPECT_NE(answer->reply, Reply::failed);
          // Without a floor, the marker still counts.
          const bool second_counts =
              verb == Verb::repair_plain || verb == Verb::read_floor_and_marker;
          if (first.type == Type::error && !second_counts) {
            EXPECT_EQ(answer->reply, Reply::error);
          }
          if (answer->reply == Reply::granted) {
            const bool is_set = verb == Verb::set || verb == Verb::set_and_ttl;
            const bool says_so =
                form == Dialect::classic ? first.text == "OK" : first.type == Type::nil;
            const bool all = verb == Verb::set_all && first.integer == 1;
            EXPECT_TRUE((is_set && says_so) || all);
          }
        }
      }
    }
  }
}

TEST(Classify, AReadingOfAReignNamesTheCommandThatWasRefused) {
  const Value refused = error("NOPERM");
  const std::vector<std::string> commands{"SET redlock:node:beat",
                                          "ZMSCORE redlock:node:numbers",
                                          "GET redlock:node:marker",
                                          "GET redlock:node:reign",
                                          "WAIT",
                                          "INFO stats",
                                          "INFO replication"};
  ASSERT_EQ(values_expected(Verb::read_reign), commands.size());
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const Value other = nil();
    std::vector<const Value*> values(commands.size(), &other);
    values[i] = &refused;
    const auto answer = redis::classify(Verb::read_reign, Dialect::classic, values);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->reply, Reply::error);
    EXPECT_EQ(answer->text, "NOPERM");
    EXPECT_EQ(answer->reign.refused, commands[i]);
  }
}

}  // namespace
}  // namespace redlock::redis
