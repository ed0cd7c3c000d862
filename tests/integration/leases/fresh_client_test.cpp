// A lease is used by its token, by clients that have met no node before: each call is made by a
// client of its own, like a process that has just started. The nodes are opened deployments, as
// users have them.

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>

#include "integration/c/helpers.hpp"
#include "integration/library.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;

class FreshClient : public testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] static ClientOptions options() { return patient(shared_urls(GetParam())); }
  [[nodiscard]] static Client client() { return make_client(options()); }
  [[nodiscard]] static std::size_t held(const std::string& resource) {
    return shared_nodes(GetParam()).count_held(resource);
  }

  std::string resource_ = fresh_resource();
};

TEST_P(FreshClient, UsesALeaseByItsToken) {
  for (int time = 0; time < 2; ++time) {
    auto lease = client().try_acquire(resource_, {.ttl = seconds(20)});
    ASSERT_TRUE(succeeded(lease)) << "released as its client ends";
    Token token;
    {
      Client holder = client();
      lease = acquire_patiently(holder, resource_, {.ttl = seconds(20)});
      ASSERT_TRUE(succeeded(lease));
      token = lease->detach().token;
    }
    EXPECT_EQ(client().ownership(resource_, token), Ownership::held);
    const auto seen = client().inspect(resource_);
    ASSERT_TRUE(succeeded(seen));
    EXPECT_EQ(seen->holder, token);
    EXPECT_TRUE(succeeded(client().extend(resource_, token, seconds(30))));
    EXPECT_TRUE(failed_with(client().try_acquire(resource_), Errc::held));
    EXPECT_TRUE(succeeded(client().release(resource_, token)));
    EXPECT_TRUE(failed_with(client().extend(resource_, token, seconds(30)), Errc::not_holder));
    EXPECT_TRUE(failed_with(client().release(resource_, token), Errc::not_holder));
  }
}

TEST_P(FreshClient, BreaksALockByItsToken) {
  Token token;
  {
    Client holder = client();
    auto lease = holder.try_acquire(resource_, {.ttl = seconds(20)});
    ASSERT_TRUE(succeeded(lease));
    token = lease->detach().token;
  }
  EXPECT_TRUE(succeeded(client().break_lock(resource_, token)));
  EXPECT_TRUE(eventually([&] { return held(resource_) == 0; }));
  EXPECT_TRUE(succeeded(client().try_acquire(resource_)));
}

/// The answer to an asynchronous call of a client that lives for this call.
template <typename T, typename Call>
Result<T> answer(const ClientOptions& options, const Call& call) {
  AsyncClient client = make_async_client(options);
  std::promise<Result<T>> said;
  call(client, [&](Result<T> result) { said.set_value(std::move(result)); });
  return said.get_future().get();
}

TEST_P(FreshClient, UsesALeaseByItsTokenAsynchronously) {
  for (int time = 0; time < 2; ++time) {
    Token token;
    {
      AsyncClient holder = make_async_client(options());
      std::promise<Result<Lease>> said;
      holder.try_acquire_for(resource_, seconds(30), {.ttl = seconds(20)},
                             [&](Result<Lease> lease) { said.set_value(std::move(lease)); });
      auto lease = said.get_future().get();
      ASSERT_TRUE(succeeded(lease));
      token = lease->detach().token;
    }
    EXPECT_TRUE(succeeded(answer<Round>(options(), [&](AsyncClient& client, auto done) {
      client.extend(resource_, token, seconds(30), done);
    })));
    const auto seen = answer<Inspection>(
        options(), [&](AsyncClient& client, auto done) { client.inspect(resource_, done); });
    ASSERT_TRUE(succeeded(seen));
    EXPECT_EQ(seen->holder, token);
    EXPECT_TRUE(succeeded(answer<Round>(options(), [&](AsyncClient& client, auto done) {
      client.release(resource_, token, done);
    })));
  }
}

TEST_P(FreshClient, UsesALeaseByItsTokenInC) {
  const COptions options(shared_urls(GetParam()));
  const redlock_target target = redlock_exclusive(resource_.c_str());
  for (int time = 0; time < 2; ++time) {
    std::string token;
    {
      const CClient holder = c_client(options);
      redlock_acquire_options terms = c_terms();
      terms.ttl_ns = 20 * one_second_ns;
      const CLease lease = c_acquire(holder, target, terms);
      ASSERT_NE(lease, nullptr);
      token = redlock_lease_token(lease.get());
      ASSERT_STRNE(redlock_lease_detach(lease.get()), "");
    }
    redlock_error* error = nullptr;
    const auto ok = [&](redlock_status status) {
      const CError owned(error);
      EXPECT_EQ(status, REDLOCK_OK) << (error == nullptr ? "" : error->message);
      error = nullptr;
    };
    ok(redlock_extend(c_client(options).get(), &target, token.c_str(), 30 * one_second_ns, nullptr,
                      &error));
    redlock_inspection* seen = nullptr;
    ok(redlock_inspect(c_client(options).get(), resource_.c_str(), &seen, &error));
    const CInspection owned(seen);
    ASSERT_NE(seen, nullptr);
    EXPECT_STREQ(seen->holder, token.c_str());
    ok(redlock_release(c_client(options).get(), &target, token.c_str(), nullptr, &error));
  }
}

INSTANTIATE_TEST_SUITE_P(OneThreeFive, FreshClient, testing::Values(1, 3, 5));

}  // namespace
}  // namespace redlock::test
