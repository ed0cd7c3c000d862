// A server's description of itself, as a client takes it (its INFO) and as an check does (all
// of its answers). Sections are separated by a line "--": the text of INFO, then the answers to the
// other questions of the check as a server sends them.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "api/deployment/findings.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/handshake.hpp"
#include "redis/connection/admin_connection.hpp"
#include "redis/handshake/handshake.hpp"
#include "redis/values/reply.hpp"
#include "redis/values/visible.hpp"
#include "redlock/limits.hpp"
#include "runtime/survey_facts.hpp"

namespace redlock::fuzz {
namespace {

constexpr std::size_t longest_message = 2 * redis::message_bytes;
constexpr auto longest_time = std::chrono::nanoseconds(3 * limits::longest_max_ttl);

void check_shown(const std::string& text) {
  REDLOCK_ASSERT(harmless(text) && text.size() < longest_message);
}

void shake_hands(std::string_view info) {
  std::string asked;
  redis::ConnectionTarget target;
  target.guard =
      redis::RestartGuard{std::chrono::seconds(30), std::chrono::seconds(31), true, "a", "i"};
  redis::Handshake handshake(target, asked);
  auto progress = redis::Handshake::Progress::more;
  redis::ReplyReader reader;
  while (!asked.empty()) {
    for (const test::Command& command : commands_in(std::exchange(asked, {}))) {
      reader.feed(handshake_answer(command, info));
      const redis::Value* answer = reader.next();
      if (answer == nullptr) return;  // too large
      progress = handshake.take(*answer);
      reader.recycle();
      if (progress == redis::Handshake::Progress::refused) return check_shown(handshake.why());
      REDLOCK_ASSERT(progress != redis::Handshake::Progress::malformed);
    }
    if (progress == redis::Handshake::Progress::ask) handshake.ask(asked);
  }
  REDLOCK_ASSERT(progress == redis::Handshake::Progress::done);
  const redis::ServerIdentity& identity = handshake.identity();
  for (const std::string* text : {&identity.run_id, &identity.version, &identity.ineligible}) {
    check_shown(*text);
  }
  REDLOCK_ASSERT(!identity.run_id.empty() && !identity.version.empty());
}

redis::OwnedValue kept(const redis::Value& value) {
  redis::OwnedValue answer{value.type, value.integer, value.text, {}};
  for (const redis::Value* element : value.elements) answer.elements.push_back(kept(*element));
  return answer;
}

redis::OwnedValue read_answer(std::string_view bytes) {
  redis::ReplyReader reader;
  reader.feed(bytes);
  const redis::Value* value = reader.next();
  return value == nullptr ? redis::OwnedValue{} : kept(*value);
}

void check_seen(const runtime::SurveyedNode& node) {
  const admin::NodeCheck& seen = node.seen;
  for (const std::string* text :
       {&seen.problem, &seen.version, &seen.run_id, &seen.maxmemory_policy, &node.denied}) {
    check_shown(*text);
  }
  REDLOCK_ASSERT(seen.reachable || !seen.problem.empty());
  REDLOCK_ASSERT(seen.quarantine >= std::chrono::nanoseconds::zero());
  REDLOCK_ASSERT(seen.quarantine == forever || seen.quarantine < longest_time);
  if (!node.marker) return;
  check_shown(node.marker->self);
  for (const std::string& member : node.marker->members) check_shown(member);
  REDLOCK_ASSERT(node.marker->max_ttl.count() >= 0 && node.marker->max_ttl < longest_time);
}

void check_judgement(const runtime::SurveyedNode& node, const ClientOptions& options) {
  runtime::SurveyedNode other;
  other.seen.url = "redis://other";
  other.seen.reachable = true;
  other.seen.run_id = "other";
  other.clock = std::chrono::nanoseconds(-1);
  const admin::DeploymentCheck check = api::judge({node, other, node}, options);
  REDLOCK_ASSERT(check.nodes.size() == 3);
  for (const admin::Finding& finding : check.findings) {
    REDLOCK_ASSERT(!to_string(finding.kind).empty() && !finding.node.empty());
    for (const std::string* text : {&finding.what, &finding.why, &finding.remedy}) {
      check_shown(*text);
    }
  }
}

void check_node(std::string_view info, Input& input) {
  std::vector<redis::OwnedValue> answers;
  for (const test::Command& command : commands_in(runtime::fact_questions().bytes())) {
    // An answer that is not given is nil.
    answers.push_back(command.at(0) == "INFO" && info != "-"
                          ? redis::OwnedValue{redis::Value::Type::bulk, 0, std::string(info), {}}
                          : read_answer(input.until("\n--\n")));
  }
  runtime::SurveyedNode node;
  node.seen.url = "redis://node";
  runtime::take_facts(answers, "127.0.0.1:6379", node);
  check_seen(node);
  node.clock = runtime::server_time(read_answer(input.until("\n--\n")));
  for (const bool trust : {false, true}) {
    ClientOptions options;
    options.nodes = {"redis://node", "redis://other", "redis://third"};
    options.guards.trust_durable = trust;
    check_judgement(node, options);
  }
}

}  // namespace
}  // namespace redlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace redlock::fuzz;
  Input input(data, size);
  const std::string_view info = input.until("\n--\n");
  shake_hands(info);
  check_node(info, input);
  return 0;
}
