#include <gtest/gtest.h>

#include <concepts>
#include <string>
#include <vector>

#include "redis/requests/row.hpp"
#include "redis/requests/shared_call.hpp"
#include "redis/requests/writer.hpp"
#include "redis/scripts_embedded.hpp"
#include "support/resp.hpp"

namespace redlock::redis {
namespace {

using core::ScriptForm;
using test::resp::command;

std::string bytes_of(scripts::Call call, ScriptForm form = ScriptForm::digest) {
  std::string bytes;
  append_command(bytes, call.words(form));
  return bytes;
}

TEST(ScriptCall, HasTheKeysAndThenTheArgumentsInTheOrderOfTheHead) {
  const std::string digest(scripts::mark.sha1);
  EXPECT_EQ(bytes_of(scripts::Mark{.marker = "m",
                                   .quarantine = "q",
                                   .numbers = "n",
                                   .expected = "",
                                   .text = "new",
                                   .quarantine_ms = "5",
                                   .why = "y"}),
            command({"EVALSHA", digest, "3", "m", "q", "n", "", "new", "5", "y"}));
  EXPECT_EQ(bytes_of(scripts::Notify{.resource = "r", .reservation_ms = "20"}, ScriptForm::text),
            command({"EVAL", std::string(scripts::notify.text), "1", "r", "20"}));
}

TEST(ScriptCall, CountsKeysOfWhichThereAreMany) {
  const std::vector<std::string> more(limits::resources - 1, "s");
  const scripts::Fence one{.numbers = "n", .resources = {"r"}, .token = "t", .number = "7"};
  EXPECT_EQ(bytes_of(one),
            command({"EVALSHA", std::string(scripts::fence.sha1), "2", "n", "r", "t", "7"}));
  const scripts::Fence most{.numbers = "n", .resources = {"r", more}, .token = "t", .number = "7"};
  std::vector<std::string> words{"EVALSHA", std::string(scripts::fence.sha1), "65", "n", "r"};
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), {"t", "7"});
  EXPECT_EQ(bytes_of(most), command(words));
}

TEST(ScriptCall, EndsBeforeTheFirstArgumentThatIsLeftOut) {
  const std::string digest(scripts::release.sha1);
  scripts::Release release{
      .resources = {"r"}, .token = "t", .cooldown_ms = "0", .reservation_ms = "20"};
  EXPECT_EQ(bytes_of(release), command({"EVALSHA", digest, "1", "r", "t", "0", "20"}));
  release.client = "c";
  release.kept = "s";
  EXPECT_EQ(bytes_of(release), command({"EVALSHA", digest, "1", "r", "t", "0", "20", "c", "s"}));
}

TEST(ScriptCallDeathTest, RefusesAnArgumentInThePlaceOfAnother) {
  scripts::Release release{
      .resources = {"r"}, .token = "t", .cooldown_ms = "0", .reservation_ms = "20"};
  release.ticket = "1";
  EXPECT_DEATH(static_cast<void>(bytes_of(release)), "");
  release.client = "c";
  release.kept = "s";
  EXPECT_DEATH(static_cast<void>(bytes_of(release)), "");
}

template <typename Notify>
concept leaves_out_an_argument = requires {
  Notify{.resource = "r"};
};
template <typename Notify>
concept says_all = requires {
  Notify{.resource = "r", .reservation_ms = "20"};
};
static_assert(says_all<scripts::Notify> && !leaves_out_an_argument<scripts::Notify>);

TEST(ScriptCall, IsWhatReleasesOfOneTurnWrite) {
  core::Terms first;
  first.resource = "r";
  first.token = "one";
  first.reserved_for = std::chrono::milliseconds(40);
  core::Terms second = first;
  second.resource = "s";
  second.token = "two";
  SharedCall shared;
  shared.add(*row_of(core::Verb::release).shared, first);
  shared.add(*row_of(core::Verb::release).shared, second);
  const std::vector<std::string> resources{"s"};
  const std::vector<std::string> tokens{"two"};
  const scripts::Releases call{
      .resources = {"r", resources}, .tokens = {"one", tokens}, .reservation_ms = "40"};
  EXPECT_EQ(shared.encode(ScriptForm::digest), bytes_of(call));
}

}  // namespace
}  // namespace redlock::redis
