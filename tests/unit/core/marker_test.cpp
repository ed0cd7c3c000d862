#include "core/marker.hpp"

#include <gtest/gtest.h>

#include <string>

namespace redlock::core::test {
namespace {

using namespace std::chrono_literals;

Marker active_marker() {
  Marker marker;
  marker.state = Marker::State::active;
  marker.incarnation = "1c";
  marker.deployment = "d0";
  marker.run_id = "4a";
  marker.replid = "4b";
  marker.max_ttl = 30s;
  marker.durable = true;
  marker.self = "redis://10.0.0.2:6379";
  marker.members = {"redis://10.0.0.1:6379", "redis://10.0.0.2:6379", "unix:///run/r.sock?db=2"};
  marker.written_at = 1'781'000'000'000'000us;
  return marker;
}

std::string stored(const Marker& marker) {
  return format_marker(marker) + ' ' + std::to_string(marker.written_at.count());
}

TEST(Marker, is_read_back_as_it_was_written) {
  const Marker marker = active_marker();
  EXPECT_EQ(stored(marker),
            "redlock2 active 1c d0 4a 4b 30000 durable redis://10.0.0.2:6379 "
            "redis://10.0.0.1:6379,redis://10.0.0.2:6379,unix:///run/r.sock?db=2 "
            "1781000000000000");
  EXPECT_EQ(parse_marker(stored(marker)), marker);

  Marker blank;
  blank.incarnation = "1c";
  blank.run_id = "4a";
  blank.replid = "4b";
  blank.max_ttl = 2s;
  EXPECT_EQ(parse_marker(stored(blank)), blank);
}

TEST(Marker, of_an_earlier_version_or_without_its_end_is_none) {
  const std::string text = stored(active_marker());
  EXPECT_FALSE(parse_marker(""));
  EXPECT_FALSE(parse_marker("4a 3 30000"));
  for (std::size_t length = 0; length <= text.rfind(' ') + 1; ++length) {
    EXPECT_FALSE(parse_marker(text.substr(0, length))) << length;
  }
  EXPECT_FALSE(parse_marker(text + " more"));
  EXPECT_FALSE(parse_marker(text + std::string(marker_bytes, '1')));
}

TEST(Marker, whose_node_is_no_member_or_whose_members_are_in_disorder_is_none) {
  Marker marker = active_marker();
  std::string text = stored(marker);
  text.replace(text.find("redis://10.0.0.2"), 16, "redis://10.0.0.9");
  EXPECT_FALSE(parse_marker(text));
  text = stored(marker);
  text.replace(text.find("redis://10.0.0.1"), 16, "redis://10.0.0.2");
  EXPECT_FALSE(parse_marker(text));
}

TEST(Marker, names_members_by_urls_without_spaces_and_commas) {
  EXPECT_TRUE(is_member_name("redis://[::1]:7001/2"));
  for (const char* name : {"", "-", "a b", "a,b", "a\n", "\x7f"})
    EXPECT_FALSE(is_member_name(name));
  EXPECT_FALSE(is_member_name(std::string(256, 'a')));
}

}  // namespace
}  // namespace redlock::core::test
