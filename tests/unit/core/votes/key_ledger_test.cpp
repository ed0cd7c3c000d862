#include "core/votes/key_ledger.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::core {
namespace {

constexpr NodeIndex node = 0;
constexpr NodeSet one = NodeSet::of(node);
constexpr Instant first_instant{};
constexpr Instant expiry = first_instant + std::chrono::seconds(1);
constexpr Instant long_after = first_instant + std::chrono::hours(1);

struct LedgerEvent {
  std::string_view name;
  void (*happen)(KeyLedger&);
};

/// All events that can happen to one token on one node.
constexpr std::array<LedgerEvent, 10> events{{
    {"set sent",
     [](KeyLedger& keys) {
       keys.write_sent(one);
       keys.set_sent(one);
       keys.expires_by(expiry);
     }},
    {"set granted",
     [](KeyLedger& keys) {
       keys.set_answered(node);
       keys.voted(node);
     }},
    {"set refused",
     [](KeyLedger& keys) {
       keys.set_answered(node);
       keys.absent(node);
     }},
    {"set unanswered",
     [](KeyLedger& keys) {
       keys.set_answered(node);
       keys.write_unanswered(node);
       keys.vote_forgotten(node);
     }},
    {"over", [](KeyLedger& keys) { keys.owe_release(); }},
    {"release sent", [](KeyLedger& keys) { keys.release_sent(one); }},
    {"released", [](KeyLedger& keys) { keys.release_answered(node, KeyLedger::Release::done); }},
    {"release refused",
     [](KeyLedger& keys) {
       keys.release_answered(node, KeyLedger::Release::refused);
       keys.release_again(node, KeyLedger::Release::refused, expiry);
     }},
    {"release unanswered",
     [](KeyLedger& keys) {
       keys.release_answered(node, KeyLedger::Release::unanswered);
       keys.release_again(node, KeyLedger::Release::unanswered, expiry);
     }},
    {"expired", [](KeyLedger& keys) { keys.expire(long_after); }},
}};

/// A letter for each state that holds: present, voted, set in flight, indeterminate, owed, release
/// in flight.
std::string state_of(const KeyLedger& keys) {
  std::string state;
  if (keys.present().has(node)) state += 'P';
  if (keys.has_vote_of(node)) state += 'V';
  if (keys.set_in_flight().has(node)) state += 'S';
  if (keys.indeterminate().has(node)) state += 'I';
  if (keys.to_release().has(node)) state += 'O';
  if (keys.release_in_flight().has(node)) state += 'R';
  return state.empty() ? "-" : state;
}

std::string table_from(const KeyLedger& before) {
  std::string table;
  for (const LedgerEvent& first : events) {
    std::string line(first.name);
    line.resize(20, ' ');
    for (const LedgerEvent& second : events) {
      KeyLedger keys = before;
      first.happen(keys);
      second.happen(keys);
      std::string state = state_of(keys);
      state.resize(6, ' ');
      line += state;
    }
    table += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return '\n' + table;
}

KeyLedger after(std::initializer_list<std::size_t> which) {
  KeyLedger keys;
  for (const std::size_t event : which) events[event].happen(keys);
  return keys;
}

// Columns: set sent, granted, refused, unanswered; over; release sent, released, refused,
// unanswered; expired. The table includes events that cannot follow each other: none may break a
// rule.
TEST(KeyLedger, EveryPairOfEventsBehindASetThatWasSent) {
  EXPECT_EQ(table_from(after({0})), R"(
set sent            PS    PV    -     PI    PSO   PSR   S     PSO   PSIO  PS
set granted         PVS   PV    V     PI    PVO   PVR   V     PVO   PVIO  PV
set refused         PS    V     -     I     -     R     -     O     IO    -
set unanswered      PSI   PVI   I     PI    PIO   PIR   -     PO    PIO   PI
over                PSO   PVO   O     PIO   PSO   PSR   S     PSO   PSIO  PS
release sent        PSR   PVR   R     PIR   PSR   PSR   S     PSO   PSIO  PSR
released            PS    V     -     I     S     SR    S     SO    SIO   S
release refused     PSO   PVO   O     PIO   PSO   PSR   S     PSO   PSIO  PS
release unanswered  PSIO  PVIO  IO    PIO   PSIO  PSIR  S     PSO   PSIO  PSIO
expired             PS    PV    -     PI    PSO   PSR   S     PSO   PSIO  PS
)");
}

TEST(KeyLedger, EveryPairOfEventsBehindAReleaseThatWasSent) {
  EXPECT_EQ(table_from(after({0, 4, 5})), R"(
set sent            PSR   PVR   R     PIR   PSR   PSR   S     PSO   PSIO  PSR
set granted         PVSR  PVR   VR    PIR   PVR   PVR   V     PVO   PVIO  PVR
set refused         PSR   VR    R     IR    R     R     -     O     IO    R
set unanswered      PSIR  PVIR  IR    PIR   PIR   PIR   -     PO    PIO   PIR
over                PSR   PVR   R     PIR   PSR   PSR   S     PSO   PSIO  PSR
release sent        PSR   PVR   R     PIR   PSR   PSR   S     PSO   PSIO  PSR
released            PS    V     -     I     S     SR    S     SO    SIO   S
release refused     PSO   PVO   O     PIO   PSO   PSR   S     PSO   PSIO  PS
release unanswered  PSIO  PVIO  IO    PIO   PSIO  PSIR  S     PSO   PSIO  PSIO
expired             PSR   PVR   R     PIR   PSR   PSR   S     PSO   PSIO  PSR
)");
}

}  // namespace
}  // namespace redlock::core
