#include <gtest/gtest.h>

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

}  // namespace
}  // namespace redlock
