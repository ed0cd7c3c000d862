#include "core/membership/marker.hpp"

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

TEST(Marker, IsReadBackAsItWasWritten) {
  const Marker marker = active_marker();
  EXPECT_EQ(stored(marker),
            "redlock3 active 1c d0 4a 4b 30000 durable redis://10.0.0.2:6379 "
            "redis://10.0.0.1:6379,redis://10.0.0.2:6379,unix:///run/r.sock?db=2 - "
            "1781000000000000");
  EXPECT_EQ(parse_marker(stored(marker)), marker);

  Marker blank;
  blank.incarnation = "1c";
  blank.run_id = "4a";
  blank.replid = "4b";
  blank.max_ttl = 2s;
  EXPECT_EQ(parse_marker(stored(blank)), blank);
}

TEST(Marker, SaysSinceWhenTheNodeRemembersUnlessThatIsAlways) {
  Marker marker = active_marker();
  EXPECT_EQ(parse_marker(stored(marker))->remembers_since, Marker::always);
  marker.remembers_since = Marker::from_its_writing;
  EXPECT_NE(stored(marker).find(" - since 1781"), std::string::npos);
  marker = parse_marker(stored(marker)).value();
  EXPECT_EQ(marker.remembers_since, marker.written_at);
  marker.written_at += 5s;
  EXPECT_EQ(parse_marker(stored(marker)), marker) << "the next writing does not change it";
  std::string text = stored(marker);
  for (const char* since : {"-1", "then", "0x1", "", "99999999999999999999"}) {
    std::string forged = text;
    forged.replace(forged.find("1781000000"), 16, since);
    EXPECT_FALSE(parse_marker(forged)) << since;
  }
}

TEST(Marker, OfAnEarlierVersionOrWithoutItsEndIsNone) {
  const std::string text = stored(active_marker());
  EXPECT_FALSE(parse_marker(""));
  EXPECT_FALSE(parse_marker("4a 3 30000"));
  for (std::size_t length = 0; length <= text.rfind(' ') + 1; ++length) {
    EXPECT_FALSE(parse_marker(text.substr(0, length))) << length;
  }
  EXPECT_FALSE(parse_marker(text + " more"));
  EXPECT_FALSE(parse_marker(text + std::string(marker_bytes, '1')));
}

TEST(Marker, WhoseNodeIsNoMemberOrWhoseMembersAreInDisorderIsNone) {
  Marker marker = active_marker();
  std::string text = stored(marker);
  text.replace(text.find("redis://10.0.0.2"), 16, "redis://10.0.0.9");
  EXPECT_FALSE(parse_marker(text));
  text = stored(marker);
  text.replace(text.find("redis://10.0.0.1"), 16, "redis://10.0.0.2");
  EXPECT_FALSE(parse_marker(text));
}

TEST(Marker, KeepsAnAdmissionForEachMemberOrNone) {
  Marker marker = active_marker();
  set_admission(marker, marker.self, next_admission(first_admission, "0123456789abcdef0123"));
  EXPECT_EQ(marker.admissions, (std::vector<std::string>{"0", "1.0123456789abcdef", "0"}));
  EXPECT_EQ(parse_marker(stored(marker)), marker);
  std::string text = stored(marker);
  text.replace(text.find("0,1."), 2, "");
  EXPECT_FALSE(parse_marker(text)) << "two for three members";
  Marker blank;
  blank.incarnation = blank.run_id = blank.replid = "1";
  text = stored(blank);
  text.replace(text.find(" - -"), 4, " - 0");
  EXPECT_FALSE(parse_marker(text));
}

TEST(Marker, AdmissionsOnlyRise) {
  Marker one = active_marker();
  Marker other = active_marker();
  EXPECT_EQ(deployment_text(one), deployment_text(other));
  const std::string& member = one.members[0];
  set_admission(one, member, "2.a");
  EXPECT_NE(deployment_text(one), deployment_text(other));
  set_admission(other, member, "10.a");
  EXPECT_FALSE(raise_admissions(other, one)) << "10 comes after 2";
  EXPECT_TRUE(raise_admissions(one, other));
  EXPECT_EQ(admission_of(one, member), "10.a");
  set_admission(other, member, "10.b");
  EXPECT_TRUE(raise_admissions(one, other)) << "of two with one number, one is the later for all";
  EXPECT_FALSE(raise_admissions(one, other));
  EXPECT_EQ(own_admission(one), first_admission);
  EXPECT_EQ(admission_of(one, "redis://10.0.0.9:6379"), first_admission);
}

TEST(Marker, TheNextAdmissionIsThatOfOneBlankMarker) {
  const std::string next = next_admission("3.x", "0123456789abcdef0123");
  EXPECT_TRUE(is_later_admission(next, "3.x"));
  EXPECT_TRUE(is_admission_of(next, "0123456789abcdef0123"));
  EXPECT_FALSE(is_admission_of(next, "1123456789abcdef0123"));
  EXPECT_FALSE(is_admission_of(first_admission, "0"));
}

TEST(Marker, NamesMembersByUrlsWithoutSpacesAndCommas) {
  EXPECT_TRUE(is_member_name("redis://[::1]:7001/2"));
  for (const char* name : {"", "-", "a b", "a,b", "a\n", "\x7f"})
    EXPECT_FALSE(is_member_name(name));
  EXPECT_FALSE(is_member_name(std::string(256, 'a')));
}

}  // namespace
}  // namespace redlock::core::test
