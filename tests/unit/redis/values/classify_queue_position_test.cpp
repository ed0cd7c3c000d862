// The client's queue position in the answers to join_queue and to a refused take.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "redis/values/classify.hpp"
#include "redlock/limits.hpp"
#include "unit/redis/values.hpp"

namespace redlock::redis {
namespace {

using core::Reply;
using core::Verb;
using std::chrono::milliseconds;

/// The answer's meaning as text for failures: "taken, ticket 7, first".
std::string position(Verb verb, std::vector<Value> parts) {
  Value array;
  array.type = Value::Type::array;
  for (const Value& part : parts) array.elements.push_back(&part);
  const std::vector<const Value*> values{&array};
  const auto answer = classify(verb, Dialect::classic, values);
  if (!answer) return "violation";
  std::string out = "?";
  if (answer->reply == Reply::taken) out = "taken";
  if (answer->reply == Reply::gone) out = "gone";
  if (answer->reply == Reply::granted) out = "granted";
  if (answer->number != 0) out += " #" + std::to_string(answer->number);
  if (!answer->text.empty()) out += " '" + std::string(answer->text) + "'";
  if (answer->remaining) {
    out += " " + std::to_string(std::chrono::floor<milliseconds>(*answer->remaining).count());
  }
  out += ", ticket " + std::to_string(answer->ticket);
  return out + (answer->is_first ? ", first" : "");
}

constexpr std::int64_t highest_ticket = std::int64_t{1} << 53;

TEST(ClassifyQueuePosition, AQueuedClientLearnsItsPosition) {
  const auto of = [](std::vector<Value> values) {
    return position(Verb::join_queue, std::move(values));
  };
  EXPECT_EQ(of({integer(1), integer(7), integer(0)}), "taken, ticket 7");
  EXPECT_EQ(of({integer(1), integer(7), integer(1)}), "taken, ticket 7, first");
  EXPECT_EQ(of({integer(0), integer(7), integer(1)}), "gone, ticket 7, first");
  EXPECT_EQ(of({integer(1), integer(0), integer(1)}), "taken, ticket 0, first")
      << "a writer ahead of all tickets";
  EXPECT_EQ(of({integer(1), integer(highest_ticket), integer(0)}),
            "taken, ticket " + std::to_string(highest_ticket));
}

TEST(ClassifyQueuePosition, AMalformedPositionIsAViolation) {
  const auto of = [](std::vector<Value> values) {
    return position(Verb::join_queue, std::move(values));
  };
  EXPECT_EQ(of({integer(2), integer(7), integer(0)}), "violation");
  EXPECT_EQ(of({integer(-1), integer(7), integer(0)}), "violation");
  EXPECT_EQ(of({bulk("1"), integer(7), integer(0)}), "violation");
  EXPECT_EQ(of({integer(1), integer(-1), integer(0)}), "violation");
  EXPECT_EQ(of({integer(1), integer(highest_ticket + 1), integer(0)}), "violation");
  EXPECT_EQ(of({integer(1), bulk("7"), integer(0)}), "violation");
  EXPECT_EQ(of({integer(1), Value(), integer(0)}), "violation");
  EXPECT_EQ(of({integer(1), integer(7), integer(2)}), "violation");
  EXPECT_EQ(of({integer(1), integer(7), integer(-1)}), "violation");
  EXPECT_EQ(of({integer(1), integer(7), bulk("1")}), "violation");
  EXPECT_EQ(of({integer(1), integer(7)}), "violation");
  EXPECT_EQ(of({integer(1), integer(7), integer(0), integer(0)}), "violation");
  EXPECT_EQ(of({}), "violation");
  const Value before_tickets = integer(1);
  const std::vector<const Value*> values{&before_tickets};
  EXPECT_FALSE(classify(Verb::join_queue, Dialect::classic, values));
}

TEST(ClassifyQueuePosition, ARefusedTakeReportsThePositionOfAQueuedClient) {
  const auto of = [](Value ticket, Value first) {
    return position(Verb::take, {integer(-1), bulk("you"), integer(12), integer(1),
                                 std::move(ticket), std::move(first)});
  };
  EXPECT_EQ(of(integer(7), integer(0)), "taken #1 'you' 12, ticket 7");
  EXPECT_EQ(of(integer(7), integer(1)), "taken #1 'you' 12, ticket 7, first");
  EXPECT_EQ(of(integer(0), integer(1)), "taken #1 'you' 12, ticket 0, first");
  EXPECT_EQ(of(integer(-1), integer(0)), "violation");
  EXPECT_EQ(of(integer(highest_ticket + 1), integer(0)), "violation");
  EXPECT_EQ(of(bulk("7"), integer(0)), "violation");
  EXPECT_EQ(of(integer(7), integer(2)), "violation");
  EXPECT_EQ(of(integer(7), Value()), "violation");
}

TEST(ClassifyQueuePosition, ARefusedTakeHasThreeFourOrSixElements) {
  std::vector<Value> values{integer(-1), bulk("you"), integer(12), integer(1), integer(7)};
  EXPECT_EQ(position(Verb::take, values), "violation");
  values.push_back(integer(0));
  values[3] = integer(0);
  EXPECT_EQ(position(Verb::take, values), "violation") << "no resource";
  values[3] = integer(limits::resources + 1);
  EXPECT_EQ(position(Verb::take, values), "violation");
  values[3] = integer(1);
  values[1] = integer(1);
  EXPECT_EQ(position(Verb::take, values), "violation");
  values[1] = bulk("redlock:next:c");
  EXPECT_EQ(position(Verb::take, values), "taken #1 'redlock:next:c' 12, ticket 7");
  values.push_back(integer(0));
  EXPECT_EQ(position(Verb::take, values), "violation");
}

TEST(ClassifyQueuePosition, OnlyARefusalAndAQueueReportAPosition) {
  EXPECT_EQ(position(Verb::take, {integer(1), integer(5000)}), "granted #5000, ticket 0");
  EXPECT_EQ(position(Verb::take, {integer(1), integer(0), integer(7), integer(1)}), "violation");
  EXPECT_EQ(position(Verb::enter,
                     {integer(-1), bulk("you"), integer(12), integer(1), integer(7), integer(1)}),
            "violation");
}

}  // namespace
}  // namespace redlock::redis
