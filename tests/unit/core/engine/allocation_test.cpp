#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include "unit/core/harness.hpp"

namespace {
std::uint64_t allocations = 0;  // NOLINT: the operators below have nowhere else to count
}

// Not inlined: g++ 12 would see malloc inside new and warn of a mismatched pair.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace redlock::core::test {
namespace {

class FortyDigits final : public Randomness {
 public:
  [[nodiscard]] Token token() override {
    std::array<char, 40> digits{};
    digits.fill('a');
    for (std::uint64_t left = ++count_, i = 0; left != 0; left /= 16, ++i) {
      digits[i] = "0123456789abcdef"[left % 16];
    }
    return *Token::parse({digits.data(), digits.size()});
  }
  [[nodiscard]] Duration between(Duration, Duration to) override { return to; }

 private:
  std::uint64_t count_ = 0;
};

class Cycle {
 public:
  explicit Cycle(const Settings& settings) : engine_(settings, random_) {
    out_.reserve(64);
    step(TimePassed{});
    for (NodeIndex node = 0; node < 5; ++node) {
      NodeUp event{node, servers_[node], node};
      event.marker = marker;
      step(event);
    }
  }

  /// A lock's usual cycle: acquire, refused once, granted, extended, released.
  void run() {
    Acquire acquire;
    acquire.request = CallId{1};
    acquire.resource = "a resource whose name is longer than a short string";
    acquire.ttl = 10s;
    acquire.wait = 1s;
    acquire.renewal = Acquire::Renewal{UINT64_MAX, Duration::max()};
    step(acquire);
    answer_all(Reply::taken, "0123456789012345678901234567890123456789");
    now_ = later(now_, 60ms);
    step(TimePassed{});
    answer_all(Reply::granted);
    now_ = later(now_, 4s);
    step(TimePassed{});
    answer_all(Reply::extended);
    step(Release{CallId{2}, lease_});
    answer_all(Reply::released);
    ++cycles_;
  }
  [[nodiscard]] int cycles() const { return cycles_; }
  [[nodiscard]] int granted() const { return granted_; }
  [[nodiscard]] int released() const { return released_; }

  static constexpr std::string_view marker =
      "redlock3 active incarnation deployment server replid 30000 volatile node0 "
      "node0,node1,node2,node3,node4 - 1";

 private:
  void step(const Event& event) {
    out_.clear();
    engine_.step(now_, event, out_);
    for (const Command& command : out_) {
      if (const auto* acquired = std::get_if<Acquired>(&command)) {
        lease_ = acquired->claim;
        ++granted_;
      }
      if (std::holds_alternative<Released>(command)) ++released_;
      const Request* request = request_in(command);
      if (request == nullptr) continue;
      request->nodes.each([&](NodeIndex node) { open_[node][count_[node]++] = request->stamp; });
    }
  }
  void answer_all(Reply reply, std::string_view text = {}) {
    step(TurnEnd{});
    for (NodeIndex node = 0; node < 5; ++node) {
      for (std::size_t i = 0; i < count_[node]; ++i) {
        const bool release = open_[node][i].verb == Verb::release;
        if (is_marker_reading(open_[node][i].verb)) {
          step(Answer{node, open_[node][i], Reply::marker, marker});
          continue;
        }
        step(Answer{node, open_[node][i], release ? Reply::released : reply, text, 10ms});
      }
      count_[node] = 0;
    }
  }

  FortyDigits random_;
  Engine engine_;
  Instant now_{};
  std::array<std::string, 5> servers_{"a", "b", "c", "d", "e"};
  std::vector<Command> out_;
  std::array<std::array<Stamp, 16>, 5> open_{};
  std::array<std::size_t, 5> count_{};
  ClaimId lease_;
  int cycles_ = 0;
  int granted_ = 0;
  int released_ = 0;
};

void expect_no_allocation(const Settings& settings) {
  Cycle cycle(settings);
  for (int i = 0; i < 20; ++i) cycle.run();
  const std::uint64_t before = allocations;
  for (int i = 0; i < 100; ++i) cycle.run();
  const std::uint64_t after = allocations;
  EXPECT_EQ(after - before, 0U);
  EXPECT_EQ(cycle.granted(), cycle.cycles());
  EXPECT_EQ(cycle.released(), cycle.cycles());
  EXPECT_GT(before, 0U) << "the counter counts";
}

TEST(Allocation, ALockCycleInSteadyStateAllocatesNothing) {
  expect_no_allocation(Harness::settings_for(5));
}

TEST(Allocation, NorDoesOneWhoseVotesCountWithTheirMarker) {
  Settings settings = Harness::settings_for(5);
  settings.restart_guard = true;
  expect_no_allocation(settings);
}

}  // namespace
}  // namespace redlock::core::test
