// How a member is reached that only other nodes name.

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "runtime/configuration.hpp"

namespace redlock::runtime::test {
namespace {

ClientOptions options_of(std::vector<std::string> nodes) {
  ClientOptions options;
  options.nodes = std::move(nodes);
  return options;
}

bool is_reached(const std::vector<std::string>& list, const std::string& learned) {
  return configure_learned(learned, options_of(list)).endpoint.refused.empty();
}

TEST(LearnedMember, IsReachedByNoLessThanTheListAsksFor) {
  EXPECT_TRUE(is_reached({"redis://a:1"}, "redis://b:1"));
  EXPECT_TRUE(is_reached({"redis://a:1"}, "rediss://b:1"));
  EXPECT_FALSE(is_reached({"rediss://a:1"}, "redis://b:1"));
  EXPECT_FALSE(is_reached({"rediss://a:1", "redis://c:1"}, "redis://b:1"));
  EXPECT_FALSE(is_reached({"redis://a:1"}, "unix:///run/docker.sock"));
  EXPECT_TRUE(is_reached({"unix:///run/a"}, "unix:///run/b"));
  EXPECT_FALSE(is_reached({"unix:///run/a"}, "redis://b:1"));
  EXPECT_TRUE(is_reached({"unix:///run/a", "redis://c:1"}, "redis://b:1"));
  for (const char* name :
       {"redis://user:secret@b:1", "b:1", "REDIS://b:1", "redis://b:1/", "", "?"}) {
    EXPECT_FALSE(is_reached({"redis://a:1"}, name)) << name << " is not how members are named";
  }
}

TEST(LearnedMember, SaysWhyItIsNotConnectedTo) {
  const auto target = configure_learned("redis://b:1", options_of({"rediss://a:1"}));
  EXPECT_EQ(
      target.endpoint.refused,
      "it is not connected to: it is not reached through TLS, and the list has rediss:// URLs");
}

/// Whatever the lists and markers say: no secret of a URL goes to another node, and no connection
/// leaves by a transport that the list does not allow.
TEST(LearnedMember, NeverGetsWhatAUrlGaveForAnother) {
  const std::vector<std::string> schemes = {"redis://", "rediss://", "unix:///run/"};
  std::mt19937 random(1);
  const auto pick = [&random](std::size_t count) { return random() % count; };
  for (int i = 0; i < 300; ++i) {  // each list with TLS reads the system's certificates
    std::vector<std::string> list;
    bool tls = false;
    bool sockets = false;
    for (std::size_t n = 1 + pick(3); n > 0; --n) {
      const std::size_t kind = pick(schemes.size());
      tls = tls || kind == 1;
      sockets = sockets || kind == 2;
      const std::string secret = kind < 2 && pick(2) == 0 ? "u:url-secret@" : "";
      list.push_back(schemes[kind] + secret + "n" + std::to_string(n));
    }
    ClientOptions options = options_of(list);
    if (pick(2) == 0) options.password = "for-all";
    const std::size_t kind = pick(schemes.size());
    const std::string name =
        schemes[kind] + "x" + (kind < 2 ? ":" + std::to_string(1 + pick(9)) : "");
    const redis::ConnectionTarget target = configure_learned(name, options);
    EXPECT_EQ(target.user.find("u"), std::string::npos);
    EXPECT_EQ(target.password.find("url-secret"), std::string::npos);
    if (!target.endpoint.refused.empty()) continue;
    EXPECT_EQ(target.password, options.password);
    if (tls && kind == 0) ADD_FAILURE() << name << " in clear";
    if (!sockets && kind == 2) ADD_FAILURE() << name;
    EXPECT_EQ(target.endpoint.tls != nullptr, kind == 1);
  }
}

}  // namespace
}  // namespace redlock::runtime::test
