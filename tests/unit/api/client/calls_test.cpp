// How calls begin, and what becomes of what the driver reports, without a node.

#include "api/client/calls.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/client/client_core.hpp"
#include "api/client/outcomes.hpp"
#include "uv/loop.hpp"

namespace redlock::api {
namespace {

[[nodiscard]] ClientOptions options_of_nobody() {
  ClientOptions options;
  options.nodes = {"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"};
  return options;
}

/// A client's parts. The driver is not started: it connects to nobody.
class CallsTest : public testing::Test {
 protected:
  void open() { state.driver.emplace(loop.get(), state.configuration, outcomes); }
  void run() {
    state.completions.run(false, true, [] {});
  }
  template <typename Value>
  [[nodiscard]] Answer<Value> answer() {
    return [this](const Result<Value>& result) {
      answered += result ? "granted;" : std::string(to_string(result.error().code)) + ';';
      if (!result) message = result.error().message;
    };
  }
  ~CallsTest() override {
    state.driver.reset();
    client->shut_down();
  }

  uv::Loop loop;
  const std::shared_ptr<ClientCore> client = *ClientCore::create(options_of_nobody(), nullptr);
  ClientState state{*runtime::configure(options_of_nobody())};
  Calls calls{state};
  Outcomes outcomes{state, calls, *client};
  runtime::DriverListener& reports = outcomes;
  std::string answered;
  std::string message;
};

TEST_F(CallsTest, OfAClosedClientAreAnsweredThereAndThen) {
  calls.inspect(answer<Inspection>(), "r");
  calls.metrics(answer<Metrics>());
  calls.cancel(RequestId{1});
  calls.detach(nullptr);
  calls.watch_others(nullptr);
  EXPECT_EQ(answered, "closed;closed;");
}

TEST_F(CallsTest, ThatAreRefusedAreAnsweredAtTheEndOfTheTurn) {
  open();
  calls.inspect(answer<Inspection>(), "");
  calls.ownership(answer<Ownership>(), "r", Token());
  calls.extend(answer<Round>(), nullptr, std::chrono::seconds(1));
  EXPECT_EQ(answered, "");
  run();
  EXPECT_EQ(answered, "invalid_argument;invalid_argument;not_holder;");
}

TEST_F(CallsTest, OfAClientThatClosesAreRefused) {
  open();
  state.closing = true;
  calls.inspect(answer<Inspection>(), "r");
  run();
  EXPECT_EQ(answered, "closed;");
}

TEST_F(CallsTest, AreCancelledByTheIdOfTheirCaller) {
  open();
  calls.acquire(answer<Lease>(), RequestId{7}, Target("r"), AcquireOptions(), forever);
  calls.cancel(RequestId{8});
  run();
  EXPECT_EQ(answered, "");
  calls.cancel(RequestId{7});
  EXPECT_EQ(answered, "") << "not inside the call";
  run();
  EXPECT_EQ(answered, "cancelled;");
  EXPECT_EQ(state.pending.find(RequestId{7}), std::nullopt);
}

TEST_F(CallsTest, SayWhatADowngradeThatTooFewConfirmedMeans) {
  open();
  calls.downgrade_by_token(answer<Round>(), "r", *Token::parse("abcdefghijklmnopqrst"));
  state.pending.each([&](const PendingCalls::Call& call) {
    core::Failed failed;
    failed.request = call.id();
    failed.code = Errc::unavailable;
    reports.on_outcome({}, failed);
  });
  run();
  EXPECT_EQ(answered, "unavailable;");
  EXPECT_NE(message.find("must not write"), std::string::npos) << message;
}

TEST_F(CallsTest, ThatHaveNotAnsweredFailWhenTheClientEnds) {
  open();
  state.pending.add("r", answer<Inspection>());
  state.pending.add("r", answer<Round>());
  outcomes.fail_all();
  run();
  EXPECT_EQ(answered, "closed;closed;");
}

TEST_F(CallsTest, ReportNodesByTheListOfTheTimeWhenTheyWereMade) {
  const runtime::Urls& before = state.urls();
  NodeEvent learned;
  learned.kind = NodeEvent::Kind::learned;
  learned.url = "127.0.0.1:4";
  reports.on_node_event(learned);
  EXPECT_EQ(before->size(), 3);
  EXPECT_EQ(state.urls()->size(), 4);
  EXPECT_EQ(state.urls()->back(), "127.0.0.1:4");
}

TEST_F(CallsTest, TellTheUserOfEventsOnlyIfTheUserAsks) {
  NodeEvent event;
  event.kind = NodeEvent::Kind::up;
  reports.on_node_event(event);
  EXPECT_TRUE(state.completions.empty());
  int told = 0;
  int logged = 0;
  state.configuration.on_node_event = [&](const NodeEvent&) { ++told; };
  state.configuration.on_log = [&](const NodeEvent&) { ++logged; };
  for (int i = 0; i < 3; ++i) reports.on_node_event(event);
  run();
  EXPECT_EQ(told, 3);
  EXPECT_EQ(logged, 1) << "the others are counted, for a summary";
  outcomes.finish_log({});
  run();
  EXPECT_EQ(logged, 2);
}

}  // namespace
}  // namespace redlock::api
