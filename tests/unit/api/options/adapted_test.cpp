// Options of a program that was compiled with an earlier header: the library must not read the
// members that the program lacks.

#include "api/options/adapted.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace redlock::api {
namespace {

using namespace std::chrono_literals;

/// The offset of a member.
template <typename Options, typename Member>
std::size_t offset_of(Member Options::*member) {
  const Options options;
  return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&(options.*member)) -
                                  reinterpret_cast<const std::byte*>(&options));
}

/// A struct without its last members: other bytes are in their place.
template <typename Options>
class Earlier {
 public:
  explicit Earlier(std::size_t size) : size_(size) {
    auto* const made = ::new (bytes_.data()) Options;
    made->struct_size = size;
    std::memcpy(rest_.data(), bytes_.data() + size, sizeof(Options) - size);
    std::memset(bytes_.data() + size, 0xa5, sizeof(Options) - size);
  }
  Earlier(const Earlier&) = delete;
  Earlier& operator=(const Earlier&) = delete;
  ~Earlier() {
    std::memcpy(bytes_.data() + size_, rest_.data(), sizeof(Options) - size_);
    options().~Options();
  }
  [[nodiscard]] Options& options() noexcept {
    return *std::launder(reinterpret_cast<Options*>(bytes_.data()));
  }

 private:
  std::size_t size_;
  alignas(Options) std::array<std::byte, sizeof(Options)> bytes_{};
  std::array<std::byte, sizeof(Options)> rest_{};
};

TEST(AdaptedOptions, HaveTheMembersThatTheProgramKnowsAndDefaultsForTheRest) {
  Earlier<AcquireOptions> given(offset_of(&AcquireOptions::on_at_risk));
  given.options().ttl = 7s;
  given.options().name = "somebody with a name that needs memory of its own";
  const AcquireOptions read = adapted(std::move(given.options()));
  EXPECT_EQ(read.struct_size, sizeof(AcquireOptions));
  EXPECT_EQ(read.ttl, 7s);
  EXPECT_EQ(read.name, "somebody with a name that needs memory of its own");
  EXPECT_FALSE(read.on_at_risk);
  EXPECT_FALSE(read.on_lost);
}

TEST(AdaptedOptions, OfAClientAreReadInTheSameWay) {
  Earlier<ClientOptions> given(offset_of(&ClientOptions::guards));
  given.options().nodes = {"127.0.0.1:7001"};
  given.options().max_ttl = 1min;
  const ClientOptions read = adapted(given.options());
  EXPECT_EQ(read.nodes, given.options().nodes);
  EXPECT_EQ(read.max_ttl, 1min);
  EXPECT_TRUE(read.guards.restart);
  EXPECT_FALSE(read.observer);
  EXPECT_FALSE(read.on_log);
}

/// Options within others, before they had all of today's members: what follows begins earlier.
struct EarlierTls {
  std::size_t struct_size = sizeof(EarlierTls);
  std::string ca_file = "ca.pem";
};
struct EarlierClient {
  std::size_t struct_size = sizeof(EarlierClient);
  std::vector<std::string> nodes = {"127.0.0.1:7001"};
  std::optional<std::size_t> quorum = 1;
  std::string name = "somebody with a name that needs memory of its own";
  bool name_holders = true;
  std::string user;
  std::string password;
  EarlierTls tls;
  NodeOptions node;
  std::chrono::nanoseconds max_ttl = 1min;
};

TEST(AdaptedOptions, MayHaveGrownWithinOthers) {
  EarlierClient given;
  given.node.longest_timeout = 7s;
  const ClientOptions read = adapted(*reinterpret_cast<const ClientOptions*>(&given));
  EXPECT_EQ(read.nodes, given.nodes);
  EXPECT_EQ(read.name, given.name);
  EXPECT_TRUE(read.name_holders);
  EXPECT_EQ(read.tls.ca_file, "ca.pem");
  EXPECT_EQ(read.tls.struct_size, sizeof(TlsOptions));
  EXPECT_EQ(read.tls.server_name, "");
  EXPECT_EQ(read.node.longest_timeout, 7s);
  EXPECT_EQ(read.max_ttl, 1min);
  EXPECT_TRUE(read.guards.restart);
}

TEST(AdaptedOptions, OfThisVersionAreAllThere) {
  AcquireOptions given;
  given.on_lost = [](const Error&) {};
  given.max_renewals = 3;
  const AcquireOptions read = adapted(std::move(given));
  EXPECT_TRUE(read.on_lost);
  EXPECT_EQ(read.max_renewals, 3U);
}

/// If a row omitted a member, a program of another version would get its default.
template <typename Options>
constexpr std::size_t rows = std::tuple_size_v<decltype(members_of<Options>)>;

TEST(AdaptedOptions, ARowHasEveryMember) {
  // The number of members is the number of names in the binding, without struct_size.
  [[maybe_unused]] const auto [s1, a, b, c, d, e, f, g, h, i] = AcquireOptions();
  static_assert(rows<AcquireOptions> == 9);
  [[maybe_unused]] const auto [s2, delay] = BreakOptions();
  static_assert(rows<BreakOptions> == 1);
  [[maybe_unused]] const auto [s3, poll] = WatchOptions();
  static_assert(rows<WatchOptions> == 1);
  [[maybe_unused]] const auto [s4, candidate, ttl, interval, risk, lost] = ElectionOptions();
  static_assert(rows<ElectionOptions> == 5);
  [[maybe_unused]] const auto [s5, pattern, keys] = admin::ListOptions();
  static_assert(rows<admin::ListOptions> == 2);
  [[maybe_unused]] const auto [s6, progress, stop, patience, loss] = admin::ChangeOptions();
  static_assert(rows<admin::ChangeOptions> == 4);
  [[maybe_unused]] const auto [s7, n, q, nm, nh, u, p, t, nd, mt, gd, ev, ob, pf, cr, lg] =
      ClientOptions();
  static_assert(rows<ClientOptions> == 15);
  [[maybe_unused]] const auto [s8, ca, cert, key, server] = TlsOptions();
  static_assert(rows<TlsOptions> == 4);
  [[maybe_unused]] const auto [s9, connect, shortest, longest, plain] = NodeOptions();
  static_assert(rows<NodeOptions> == 4);
  [[maybe_unused]] const auto [s10, restart, quarantine, durable, clock, bound] = GuardOptions();
  static_assert(rows<GuardOptions> == 5);
}

}  // namespace
}  // namespace redlock::api
