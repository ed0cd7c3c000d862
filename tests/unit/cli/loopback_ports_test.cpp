#include "common/servers/loopback_ports.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <set>
#include <stdexcept>
#include <string>

#include "common/system/descriptor.hpp"
#include "common/text/usage_error.hpp"

namespace redlock::cli {
namespace {

std::string refusal_of_ports(const std::string& text) {
  Arguments given;
  given.set("ports", {text, "--ports"});
  try {
    static_cast<void>(port_range_of(given));
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

/// A port that is bound.
class TakenPort {
 public:
  TakenPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  Descriptor socket_;
  std::uint16_t port_ = 0;
};

TEST(PortRange, HasAFirstAndALastPort) {
  Arguments given;
  EXPECT_FALSE(port_range_of(given));
  given.set("ports", {"7000-7099", "--ports"});
  const auto range = port_range_of(given);
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, 7000);
  EXPECT_EQ(range->last, 7099);
  EXPECT_EQ(range->size(), 100U);
}

TEST(PortRange, IsRefusedInOneLineWhereItIsNone) {
  for (const char* text :
       {"7000", "7000-", "-7000", "7001-7000", "0-9", "1-65536", "a-b", "1-2-3"}) {
    EXPECT_EQ(refusal_of_ports(text),
              "--ports: '" + std::string(text) +
                  "' is not a range of ports: FIRST-LAST, for example 7000-7099");
  }
}

TEST(PortRange, MustBeLargeEnough) {
  EXPECT_NO_THROW(check_ports(std::nullopt, 100));
  EXPECT_NO_THROW(check_ports(PortRange{7000, 7002}, 3));
  EXPECT_THROW(check_ports(PortRange{7000, 7001}, 3), UsageError);
}

TEST(LoopbackPorts, LeavesOutWhatIsTaken) {
  const TakenPort taken;
  LoopbackPorts ports(PortRange{taken.port(), taken.port()});
  EXPECT_THROW(static_cast<void>(ports.take()), std::runtime_error);
}

TEST(LoopbackPorts, GivesEachPortOnce) {
  LoopbackPorts ports(PortRange{20'000, 20'200});
  std::set<std::uint16_t> seen;
  for (int i = 0; i < 50; ++i) {
    const std::uint16_t port = ports.take_for_listener();
    EXPECT_TRUE(seen.insert(port).second);
    EXPECT_GE(port, 20'000);
    EXPECT_LE(port, 20'200);
  }
}

TEST(LoopbackPorts, LeavesTheChoiceToTheKernelWithoutARange) {
  EXPECT_EQ(LoopbackPorts().take_for_listener(), 0);
  EXPECT_NE(LoopbackPorts().take(), 0);
}

}  // namespace
}  // namespace redlock::cli
