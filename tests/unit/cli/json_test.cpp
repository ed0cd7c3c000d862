#include "common/session/json.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "redlock/inspection.hpp"
#include "redlock/options.hpp"

namespace redlock::cli {
namespace {

using namespace std::chrono_literals;

nlohmann::json inspected(NodeInspection node) {
  Inspection inspection;
  inspection.nodes = {std::move(node)};
  return nlohmann::json::parse(inspection_json("r", inspection)).at("nodes").at(0);
}

TEST(CliJson, AQuarantineWithoutEndIsMinusOne) {
  NodeInspection node;
  node.quarantine = 1500us;
  EXPECT_EQ(inspected(node).at("quarantine_ms"), 2);
  node.quarantine = forever;
  EXPECT_EQ(inspected(node).at("quarantine_ms"), -1);
}

TEST(CliJson, OfANodeThatDidNotAnswerNothingIsKnown) {
  NodeInspection node;
  node.url = "redis://a";
  node.error = "connection refused";
  EXPECT_EQ(inspected(node),
            (nlohmann::json{{"url", "redis://a"}, {"message", "connection refused"}}));
}

}  // namespace
}  // namespace redlock::cli
