#include "redis/values/hash_tag.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "redis/requests/writer.hpp"
#include "redis/scripts_embedded.hpp"
#include "redis/values/keys.hpp"
#include "support/resp.hpp"

namespace redlock::redis {
namespace {

using test::resp::command;
using testing::HasSubstr;
using testing::Not;

TEST(HashTag, OfAPrefixIsWhatItsBracesEnclose) {
  EXPECT_EQ(hash_tag_of("{locks}:"), "{locks}");
  EXPECT_EQ(hash_tag_of("{a}b:{c}:"), "{a}");
  for (const char* none : {"", "locks:", "a{b}:", "{}:", "{locks:", "}{"}) {
    EXPECT_EQ(hash_tag_of(none), "") << none;
  }
}

/// The specification of Redis Cluster gives the first; a real server, CLUSTER KEYSLOT, the others.
TEST(HashTag, HasTheSlotThatRedisComputes) {
  EXPECT_EQ(HashTag("{123456789}").slot(), 0x31c3);
  EXPECT_EQ(HashTag("{locks}").slot(), 1236);
  EXPECT_EQ(HashTag("{user1000}").slot(), 3443);
}

TEST(HashTag, IsGivenToTheKeysOfTheNodeAndToNothingElse) {
  const HashTag tag("{t}");
  std::string out = "before";
  tag.append(out, command({"GET", std::string(keys::marker)}) +
                      command({"SET", "{t}:r", "", "PX", "1"}) +
                      command({"GET", "x" + std::string(keys::marker)}));
  EXPECT_EQ(out, "before" + command({"GET", "redlock:node:{t}:marker"}) +
                     command({"SET", "{t}:r", "", "PX", "1"}) +
                     command({"GET", "xredlock:node:marker"}));
  EXPECT_EQ(tag.queue_prefix(), "redlock:node:{t}:queue:");
}

TEST(HashTag, IsGivenToTheKeysThatScriptsName) {
  const HashTag tag("{t}");
  for (const scripts::Script& script : scripts::all_scripts) {
    std::string out;
    tag.append(out, command({"EVAL", std::string(script.text), "0"}));
    const bool names_keys = script.text.find(keys::node_prefix) != std::string_view::npos;
    EXPECT_EQ(out.find("redlock:node:{t}:") != std::string::npos, names_keys) << script.name;
    std::string loaded;
    tag.append(loaded, command({"SCRIPT", "LOAD", std::string(script.text)}));
    std::string called;
    tag.append(called, command({"EVALSHA", std::string(script.sha1), "0"}));
    // A text without keys of the node, and so its digest, stays.
    EXPECT_EQ(called == command({"EVALSHA", std::string(script.sha1), "0"}), !names_keys)
        << script.name;
    EXPECT_EQ(loaded.find("redlock:node:{t}:") != std::string::npos, names_keys) << script.name;
  }
}

TEST(HashTag, LeavesAValueThatLooksLikeADigest) {
  const HashTag tag("{t}");
  const std::string set = command({"SET", "{t}:r", "v", std::string(scripts::release.sha1)});
  std::string out;
  tag.append(out, set);
  EXPECT_EQ(out, set);
}

}  // namespace
}  // namespace redlock::redis
