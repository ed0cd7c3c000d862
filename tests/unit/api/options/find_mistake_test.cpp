#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "redlock/options.hpp"

namespace redlock {
namespace {

TEST(FindMistake, FindsWhatAClientWouldBeRefusedFor) {
  ClientOptions options;
  options.nodes = {"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"};
  EXPECT_FALSE(find_mistake(options));
  options.quorum = 1;
  const auto too_few = find_mistake(options);
  ASSERT_TRUE(too_few);
  EXPECT_EQ(too_few->code, Errc::invalid_argument);
  options.quorum.reset();
  options.nodes[1] = "http://me:secret@h";
  const auto scheme = find_mistake(options);
  ASSERT_TRUE(scheme);
  EXPECT_EQ(scheme->message.find("secret"), std::string::npos) << scheme->message;
  EXPECT_TRUE(find_mistake({}));
}

/// The mistake in the prefix; empty: there is none.
std::string mistake_in(const std::string& prefix, std::vector<std::string> nodes = {"redis://h"}) {
  ClientOptions options;
  options.nodes = std::move(nodes);
  options.prefix = prefix;
  const auto mistake = find_mistake(options);
  return mistake ? mistake->message : std::string();
}

TEST(FindMistake, KnowsWhichPrefixesAreAllowed) {
  for (const char* good : {"", "team:", "a:", "Team-1_x.y/z:", "acme:billing:"}) {
    EXPECT_EQ(mistake_in(good), "") << good;
  }
  EXPECT_EQ(mistake_in(std::string(limits::prefix_bytes - 1, 'a') + ":"), "");
  EXPECT_EQ(mistake_in(std::string(limits::prefix_bytes, 'a') + ":"),
            "prefix: 129 bytes; at most 128 are allowed");
  EXPECT_EQ(mistake_in("team"), "prefix: 'team' does not end with ':'; 'team:' is allowed");
  EXPECT_EQ(mistake_in(":team:"), "prefix: ':team:' begins with ':'; a name before it is needed");
  EXPECT_EQ(mistake_in("redlock:"),
            "prefix: 'redlock:'; prefixes that begin with redlock: are the library's own");
  for (const char* bad : {"te*m:", "te?m:", "[a]:", "te\\m:", "te m:", "te\nm:", "t\xc3\xa9:"}) {
    const std::string message = mistake_in(bad);
    EXPECT_NE(message.find("letters, digits and - _ . / : are allowed"), std::string::npos) << bad;
    for (const char c : message) EXPECT_GE(static_cast<unsigned char>(c), 0x20U) << message;
  }
}

TEST(FindMistake, KnowsWhenNodesDisagreeOnThePrefix) {
  const std::vector<std::string> both{"redis://a?prefix=x:", "redis://b?prefix=x:"};
  EXPECT_EQ(mistake_in("", both), "");
  EXPECT_EQ(mistake_in("x:", both), "");
  EXPECT_EQ(mistake_in("y:", both),
            "prefix: 'y:', and the nodes' URLs have 'x:'; one of them is needed");
  EXPECT_EQ(mistake_in("", {"redis://a?prefix=x:", "redis://b?prefix=y:"}),
            "nodes: redis://a:6379 has the prefix 'x:', and redis://b:6379 has the prefix 'y:'; "
            "all nodes of a client have the same");
  EXPECT_EQ(
      mistake_in("", {"redis://a", "redis://b?prefix=y:"}),
      "nodes: redis://a:6379 has no prefix, and redis://b:6379 has the prefix 'y:'; all nodes of "
      "a client have the same");
  EXPECT_EQ(mistake_in("", {"redis://a?prefix=x", "redis://b?prefix=x"}),
            "prefix: 'x' does not end with ':'; 'x:' is allowed");
}

}  // namespace
}  // namespace redlock
