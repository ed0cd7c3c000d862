#include "redis/requests/plain_yes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "redis/values/classify.hpp"
#include "redis/values/reply.hpp"

namespace redlock::redis {
namespace {

/// A compared answer means what it would mean if it was parsed, and carries no further details.
TEST(PlainYes, MeansWhatItsParsedAnswerMeans) {
  for (const Dialect dialect : {Dialect::classic, Dialect::with_get, Dialect::with_delex}) {
    for (const Protocol protocol : {Protocol::resp2, Protocol::resp3}) {
      const PlainYesForms forms = plain_yes_forms(dialect, protocol);
      for (std::size_t i = 0; i < forms.size(); ++i) {
        if (forms[i].bytes.empty()) continue;
        const auto verb = static_cast<core::Verb>(i);
        ASSERT_EQ(values_expected(verb), 1U);
        ReplyReader reader(protocol);
        reader.feed(forms[i].bytes);
        const std::array<const Value*, 1> values{reader.next()};
        ASSERT_NE(values[0], nullptr);
        const auto parsed = classify(verb, dialect, values);
        ASSERT_TRUE(parsed.has_value());
        EXPECT_EQ(parsed->reply, forms[i].reply);
        const bool more = !parsed->text.empty() || parsed->remaining || parsed->holds ||
                          parsed->number != 0 || parsed->queued || parsed->ticket != 0;
        EXPECT_FALSE(more);
      }
    }
  }
}

TEST(PlainYes, IsReadWhereItComesNextAndIsComplete) {
  ReplyReader reader;
  reader.feed(":1\r\n:12\r\n:1\r");
  EXPECT_TRUE(reader.skip(":1\r\n"));
  EXPECT_FALSE(reader.skip(":1\r\n")) << "twelve";
  const Value* const twelve = reader.next();
  ASSERT_NE(twelve, nullptr);
  EXPECT_EQ(twelve->integer, 12);
  EXPECT_FALSE(reader.skip(":1\r\n")) << "its end is missing";
  EXPECT_EQ(reader.next(), nullptr);
  reader.feed("\n:1\r\n");
  EXPECT_FALSE(reader.skip(":1\r\n")) << "hiredis has begun it";
  const Value* const one = reader.next();
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(one->integer, 1);
}

}  // namespace
}  // namespace redlock::redis
