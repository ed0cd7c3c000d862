#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "core/membership/marker.hpp"
#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

/// Two acquisitions on three nodes that have not answered.
struct Asked : Harness {
  Asked() : Harness(3) {
    ready(*this);
    acquire(1, 10s);
    acquire(2, 10s);
  }
  std::string together(NodeIndex node) {
    std::vector<PlainYes> yes;
    while (open(node) > 0) yes.push_back({take_open(node), Reply::granted});
    return step(PlainYeses{node, yes});
  }
  std::string one_by_one(NodeIndex node) {
    std::string out;
    while (open(node) > 0) {
      const std::string more = answer(node, Reply::granted);
      if (!out.empty() && !more.empty()) out += "; ";
      out += more;
    }
    return out;
  }
};

TEST(PlainYeses, AreTakenAsIfEachHadComeInAnAnswerOfItsOwn) {
  Asked batched;
  Asked single;
  for (NodeIndex node = 0; node < 3; ++node) {
    EXPECT_EQ(batched.together(node), single.one_by_one(node));
  }
  EXPECT_EQ(batched.release(3), single.release(3));
}

TEST(PlainYeses, ThatAreHeldBackCountBehindTheMarker) {
  Settings settings = Harness::settings_for(1);
  settings.restart_guard = true;
  Harness h(settings);
  h.tick();
  NodeUp up;
  Marker marker;
  marker.state = Marker::State::active;
  marker.incarnation = "i";
  marker.deployment = "D";
  marker.run_id = "server0";
  marker.replid = "r";
  marker.max_ttl = std::chrono::milliseconds(30s);
  marker.members = {"node0"};
  marker.self = "node0";
  const std::string text = format_marker(marker) + " 1";
  up.marker = text;
  h.up_as(0, up);
  h.acquire(1, 10s);
  h.acquire(2, 10s);
  h.end_turn();
  const std::vector<PlainYes> yes{{h.take_open(0), Reply::granted},
                                  {h.take_open(0), Reply::granted}};
  EXPECT_EQ(h.step(PlainYeses{0, yes}), "");
  EXPECT_EQ(h.answer(0, Reply::marker, text), "acquired #1 until 9898ms; acquired #2 until 9898ms");
}

}  // namespace
}  // namespace redlock::core::test
