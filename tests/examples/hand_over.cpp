// Hand a lock to another process: the token is all it needs.

#include <chrono>
#include <iostream>

#include "nodes.hpp"
#include "redlock/redlock.hpp"

using namespace std::chrono_literals;

namespace {

/// The other process continues with the token that it received.
int carry_on(const redlock::ClientOptions& options, const std::string& text) {
  auto client = redlock::Client::create(options);
  const auto token = redlock::Token::parse(text);
  if (!client || !token) return 1;
  auto extended = client->extend("import", *token, 20s);
  if (!extended) {
    std::cerr << extended.error().message << '\n';
    return 2;
  }
  std::cout << "carrying on\n";
  return client->release("import", *token) ? 0 : 3;
}

}  // namespace

int main(int argc, char** argv) {
  const example::Nodes nodes(argc, argv);
  redlock::ClientOptions options;
  options.nodes = nodes.urls();
  std::string token;
  {
    auto client = redlock::Client::create(options);
    if (!client) return 1;
    auto lease = client->try_acquire_for("import", 5s, {.ttl = 10s});
    if (!lease) {
      std::cerr << lease.error().message << '\n';
      return 1;
    }
    token = lease->detach().str();  // neither the lease nor the client will release it now
  }
  return carry_on(options, token);
}
