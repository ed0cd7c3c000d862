#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "redis/batches/encoder.hpp"
#include "redis/requests/row.hpp"
#include "redis/values/classify.hpp"
#include "unit/redis/values.hpp"

/// Properties of every request: a new row is tested here without being named.
namespace redlock::redis {
namespace {

using core::ScriptForm;
using core::Terms;

constexpr std::array dialects_of_servers{Dialect::classic, Dialect::with_get, Dialect::with_delex};

/// Terms of every kind, one after the other.
std::vector<Terms> all_kinds_of_terms() {
  static const std::vector<std::string> others{"second", "third"};
  static const core::MarkerWrite write{0, "old", "new", std::chrono::seconds(30),
                                       std::chrono::seconds(1000)};
  static const core::ReignWrite reign{"marker", "old", "new", "17", 3, std::chrono::seconds(30)};
  Terms simple;
  simple.resource = "resource";
  simple.token = "t0k";
  simple.ttl = std::chrono::seconds(10);
  simple.marker = &write;
  simple.reign = &reign;
  std::vector<Terms> all;
  const auto with = [&](auto change) {
    Terms terms = simple;
    change(terms);
    all.push_back(terms);
  };
  with([](Terms&) {});
  with([](Terms& terms) { terms.name = "me"; });
  with([](Terms& terms) { terms.more_resources = others; });
  with([](Terms& terms) { terms.group = "shared"; });
  with([](Terms& terms) {
    terms.group = "shared";
    terms.downgraded = true;
  });
  with([](Terms& terms) { terms.fencing_number = 1'781'000'000'000'000; });
  with([](Terms& terms) { terms.cooldown = std::chrono::seconds(1); });
  with([](Terms& terms) { terms.keeper = "keeper"; });
  with([](Terms& terms) { terms.tracked = core::Tracked::queue; });
  with([](Terms& terms) {
    terms.resource = "resource#3";
    terms.permits = 4;
    terms.client = "client";
    terms.ticket = 7;
  });
  with([](Terms& terms) {
    terms.more_resources = others;
    terms.client = "client";
    terms.waits_for = 2;
    terms.kept = 1;
    terms.keep = std::chrono::milliseconds(20);
    terms.quiet = true;
  });
  return all;
}

/// The number of commands, each of them complete.
std::size_t commands_in(std::string_view bytes) {
  ReplyReader reader;
  reader.feed(bytes);
  std::size_t count = 0;
  while (const Value* command = reader.next()) {
    EXPECT_EQ(command->type, Value::Type::array);
    ++count;
  }
  EXPECT_FALSE(reader.in_the_middle()) << bytes;
  return count;
}

TEST(Rows, ARequestCallsAScriptIfTheCoreThinksSo) {
  for (const Row* row : rows()) {
    const bool is_script = core::about(row->verb).form == core::Form::script;
    for (const Terms& terms : all_kinds_of_terms()) {
      Encoder encoder;
      const std::string_view bytes =
          encoder.encode(row->verb, ScriptForm::digest, Dialect::classic, terms);
      EXPECT_EQ(bytes.find("EVALSHA") != std::string_view::npos, is_script)
          << core::name_of(row->verb);
    }
  }
}

TEST(Rows, EachRequestHasOneWithANameOfItsOwn) {
  std::set<std::string_view> names;
  std::set<char> letters;
  ASSERT_EQ(rows().size(), core::verbs);
  for (const Row* row : rows()) {
    const std::string_view name = core::name_of(row->verb);
    EXPECT_FALSE(name.empty());
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_TRUE(letters.insert(row->letter).second) << name;
    EXPECT_EQ(&row_of(row->verb), row);
  }
}

TEST(Rows, EncodeAsManyCommandsAsTheyHaveAnswers) {
  for (const Row* row : rows()) {
    for (const Dialect dialect : dialects_of_servers) {
      for (const Terms& terms : all_kinds_of_terms()) {
        for (const ScriptForm form : {ScriptForm::digest, ScriptForm::text}) {
          Encoder encoder;
          const std::string bytes(encoder.encode(row->verb, form, dialect, terms));
          EXPECT_EQ(commands_in(bytes), row->values) << core::name_of(row->verb);
        }
      }
    }
  }
}

TEST(Rows, EncodeTheSameWhateverWasEncodedBefore) {
  Encoder used;
  for (const Row* row : rows()) {
    for (const Terms& terms : all_kinds_of_terms()) {
      // Each row is encoded over the previous bytes, and over its own with other letters.
      for (const std::string_view token : {"t0k", "tok", "t0k"}) {
        Terms again = terms;
        again.token = token;
        if (terms.fencing_number > 0) again.fencing_number += token == "tok" ? 1U : 0U;
        if (terms.permits == 0) again.resource = token == "tok" ? "RESOURCE" : "resource";
        Encoder fresh;
        EXPECT_EQ(used.encode(row->verb, ScriptForm::digest, Dialect::with_get, again),
                  fresh.encode(row->verb, ScriptForm::digest, Dialect::with_get, again))
            << core::name_of(row->verb);
      }
    }
  }
}

TEST(Rows, RefuseAnswersOfAnotherNumber) {
  const Value yes = integer(1);
  for (const Row* row : rows()) {
    for (const Dialect dialect : dialects_of_servers) {
      for (std::size_t count = 0; count <= 9; ++count) {
        if (count == row->values) continue;
        const std::vector<const Value*> values(count, &yes);
        EXPECT_FALSE(classify(row->verb, dialect, values)) << core::name_of(row->verb);
      }
    }
  }
}

TEST(Rows, SayWhatAServersErrorIs) {
  const Value refused = error("ERR refused");
  for (const Row* row : rows()) {
    const std::vector<const Value*> values(row->values, &refused);
    for (const Dialect dialect : dialects_of_servers) {
      const auto answer = classify(row->verb, dialect, values);
      ASSERT_TRUE(answer) << core::name_of(row->verb);
      EXPECT_EQ(answer->reply, core::Reply::error) << core::name_of(row->verb);
      EXPECT_EQ(answer->text, "ERR refused") << core::name_of(row->verb);
    }
  }
}

TEST(Rows, ThatSayYesInOneLineMeanWhatTheLineMeans) {
  for (const Row* row : rows()) {
    if (row->yes == nullptr) continue;
    ASSERT_EQ(row->values, 1U) << core::name_of(row->verb);
    for (const Dialect dialect : dialects_of_servers) {
      ReplyReader reader(Protocol::resp3);
      reader.feed(row->yes(dialect, Protocol::resp3));
      const std::array<const Value*, 1> values{reader.next()};
      const auto answer = classify(row->verb, dialect, values);
      ASSERT_TRUE(answer) << core::name_of(row->verb);
      EXPECT_EQ(answer->reply, row->yes_means) << core::name_of(row->verb);
    }
  }
}

}  // namespace
}  // namespace redlock::redis
