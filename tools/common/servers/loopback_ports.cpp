#include "common/servers/loopback_ports.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/system/descriptor.hpp"
#include "common/system/platform.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"

namespace redlock::cli {
namespace {

bool is_free(std::uint16_t port) {
  const Descriptor socket(platform::open_socket(AF_INET, SOCK_STREAM));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return socket.valid() &&
         ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

/// 0: it is none.
std::uint16_t port_of(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size() ? port : std::uint16_t{0};
}

}  // namespace

std::optional<PortRange> port_range_of(const Arguments& given) {
  const auto text = given.text("ports");
  if (!text) return std::nullopt;
  const std::size_t dash = text->find('-');
  const std::string_view whole = *text;
  PortRange range;
  if (dash != std::string::npos) {
    range = {port_of(whole.substr(0, dash)), port_of(whole.substr(dash + 1))};
  }
  if (range.first == 0 || range.last < range.first) {
    throw UsageError(
        fmt::format("{}: '{}' is not a range of ports: FIRST-LAST, for example 7000-7099",
                    given.find("ports")->origin, as_printable(*text)));
  }
  return range;
}

void check_ports(const std::optional<PortRange>& range, std::size_t needed) {
  if (!range || range->size() >= needed) return;
  throw UsageError(fmt::format("--ports: {}-{} are {}, and {} are needed", range->first,
                               range->last, range->size(), needed));
}

std::uint16_t LoopbackPorts::take() {
  if (range_) {
    while (taken_ < range_->size()) {
      const auto port = static_cast<std::uint16_t>(range_->first + taken_++);
      if (is_free(port)) return port;
    }
    throw std::runtime_error(fmt::format("--ports: too few of {}-{} are free on 127.0.0.1",
                                         range_->first, range_->last));
  }
  // Below the kernel's ephemeral range: a port from there may be given to any outgoing connection
  // between the check and the server's start.
  std::random_device source;
  std::uniform_int_distribution<std::uint16_t> ports(10'000, 32'000);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const std::uint16_t port = ports(source);
    if (is_free(port)) return port;
  }
  throw std::runtime_error("no free port found on 127.0.0.1");
}

}  // namespace redlock::cli
