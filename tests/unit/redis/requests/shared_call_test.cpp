#include "redis/requests/shared_call.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>

#include "redis/requests/row.hpp"
#include "redis/scripts_embedded.hpp"
#include "support/resp.hpp"

namespace redlock::redis {
namespace {

using core::ScriptForm;
using core::Terms;
using std::chrono::milliseconds;
using test::resp::command;

const SharedForm& releases() { return *row_of(core::Verb::release).shared; }
const SharedForm& renewals() { return *row_of(core::Verb::extend).shared; }

Terms lock(std::string_view resource, std::string_view token = "me") {
  Terms terms;
  terms.resource = resource;
  terms.token = token;
  terms.ttl = std::chrono::seconds(10);
  return terms;
}

TEST(SharedCall, OfReleasesHasTheResourcesFirstAndNoUsualReservation) {
  SharedCall call;
  call.add(releases(), lock("r"));
  EXPECT_EQ(call.size(), 1U);
  const std::string digest(scripts::releases.sha1);
  EXPECT_EQ(call.encode(ScriptForm::digest), command({"EVALSHA", digest, "1", "r", "me"}));
  call.add(releases(), lock("another", "you"));
  EXPECT_EQ(call.encode(ScriptForm::digest),
            command({"EVALSHA", digest, "2", "r", "another", "me", "you"}));
  EXPECT_EQ(call.encode(ScriptForm::text), command({"EVAL", std::string(scripts::releases.text),
                                                    "2", "r", "another", "me", "you"}));
}

TEST(SharedCall, OfReleasesSaysAnotherReservation) {
  Terms far = lock("r");
  far.reserved_for = milliseconds(40);
  SharedCall call;
  call.add(releases(), far);
  EXPECT_EQ(call.encode(ScriptForm::digest),
            command({"EVALSHA", std::string(scripts::releases.sha1), "1", "r", "me", "40"}));
}

TEST(SharedCall, OfRenewalsSaysTheirTtl) {
  SharedCall call;
  call.add(renewals(), lock("r"));
  call.add(renewals(), lock("s", "you"));
  EXPECT_EQ(call.encode(ScriptForm::digest), command({"EVALSHA", std::string(scripts::extends.sha1),
                                                      "2", "r", "s", "me", "you", "10000"}));
}

TEST(SharedCall, IsOfOneFormAndOfOneTime) {
  SharedCall call;
  EXPECT_TRUE(call.fits(releases(), lock("r")));
  call.add(releases(), lock("r"));
  EXPECT_TRUE(call.fits(releases(), lock("s")));
  EXPECT_FALSE(call.fits(renewals(), lock("s")));
  Terms another = lock("s");
  another.reserved_for = milliseconds(40);
  EXPECT_FALSE(call.fits(releases(), another));
  another = lock("s");
  another.ttl = std::chrono::seconds(20);
  EXPECT_TRUE(call.fits(releases(), another)) << "a release says no TTL";
  call.clear();
  call.add(renewals(), lock("r"));
  EXPECT_FALSE(call.fits(renewals(), another));
}

TEST(SharedCall, HasAnEndAndBeginsAnewWhenCleared) {
  SharedCall call;
  for (std::size_t i = 0; i < SharedCall::most; ++i) {
    ASSERT_TRUE(call.fits(releases(), lock("r")));
    call.add(releases(), lock("r" + std::to_string(i)));
  }
  EXPECT_FALSE(call.fits(releases(), lock("r")));
  call.clear();
  EXPECT_TRUE(call.empty());
  call.add(releases(), lock("s", "you"));
  EXPECT_EQ(call.encode(ScriptForm::digest),
            command({"EVALSHA", std::string(scripts::releases.sha1), "1", "s", "you"}));
}

TEST(SharedCall, TakesNamesOfAnyLength) {
  const std::string digest(scripts::releases.sha1);
  for (const std::size_t length : {1U, 9U, 10U, 127U, 128U, 129U, 512U}) {
    const std::string name(length, 'n');
    SharedCall call;
    call.add(releases(), lock(name));
    EXPECT_EQ(call.encode(ScriptForm::digest), command({"EVALSHA", digest, "1", name, "me"}));
  }
}

}  // namespace
}  // namespace redlock::redis
