// What a copied virtual machine does: two clients continue with the same memory.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "integration/library.hpp"

namespace redlock::test {
namespace {

constexpr int cycles = 3;
using Drawn = std::array<std::array<char, Token::digits>, cycles>;

class CopiedClient : public testing::Test {
 protected:
  CopiedClient() = default;
  ~CopiedClient() override {
    client_.reset();
    EXPECT_EQ(uv_run(&loop_, UV_RUN_DEFAULT), 0);
    EXPECT_EQ(uv_loop_close(&loop_), 0);
  }
  CopiedClient(const CopiedClient&) = delete;
  CopiedClient& operator=(const CopiedClient&) = delete;

  /// One cycle after the other: their tokens. One node, so that nothing is left unanswered.
  Drawn run_cycles() {
    Drawn drawn{};
    for (auto& digits : drawn) {
      client_->try_acquire("copied", {}, [&](Result<Lease> lease) {
        EXPECT_TRUE(succeeded(lease));
        if (!lease) return uv_stop(&loop_);
        lease->token().view().copy(digits.data(), digits.size());
        client_->release(*std::move(lease), [&](const Result<Round>&) { uv_stop(&loop_); });
      });
      uv_run(&loop_, UV_RUN_DEFAULT);
    }
    return drawn;
  }

  /// The same in a copy of this process that has not noticed that it is one.
  Drawn run_cycles_in_a_copy() {
    std::array<int, 2> pipe{};
    EXPECT_EQ(::pipe(pipe.data()), 0);
    const pid_t copy = ::_Fork();
    if (copy == 0) {
      ::alarm(60);
      const Drawn drawn = run_cycles();
      ::_exit(::write(pipe[1], drawn.data(), sizeof drawn) == sizeof drawn ? 0 : 1);
    }
    ::close(pipe[1]);
    Drawn drawn{};
    EXPECT_EQ(::read(pipe[0], drawn.data(), sizeof drawn), static_cast<ssize_t>(sizeof drawn));
    ::close(pipe[0]);
    EXPECT_EQ(::waitpid(copy, nullptr, 0), copy);
    return drawn;
  }

  uv_loop_t loop_{};
  const int loop_error_ = uv_loop_init(&loop_);
  std::optional<AsyncClient> client_ = *AsyncClient::create(patient(shared_urls(1)), &loop_);
};

TEST_F(CopiedClient, DrawsOtherTokensThanTheOriginal) {
  std::set<std::string> tokens;
  std::set<std::string> client_ids;
  const auto add = [&](const Drawn& drawn) {
    for (const auto& digits : drawn) {
      const std::string token(digits.data(), digits.size());
      EXPECT_TRUE(tokens.insert(token).second) << token << " was drawn twice";
      client_ids.insert(token.substr(0, Token::client_id_digits));
    }
  };
  add(run_cycles());
  for (int copy = 0; copy < 3; ++copy) add(run_cycles_in_a_copy());
  add(run_cycles());
  EXPECT_EQ(client_ids.size(), 1U) << "the copies were none";
}

}  // namespace
}  // namespace redlock::test
