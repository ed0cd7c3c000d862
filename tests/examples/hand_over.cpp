// Hand a lock to another process, which goes on with a lease of its own.

#include <chrono>
#include <iostream>

#include "nodes.hpp"
#include "redlock/redlock.hpp"

using namespace std::chrono_literals;

namespace {

/// The other process, with the text that it received.
int carry_on(const redlock::ClientOptions& options, const std::string& text) {
  auto client = redlock::Client::create(options);
  const auto detached = redlock::DetachedLease::parse(text);
  if (!client || !detached) return 1;
  auto adopted = client->adopt(*detached, {.ttl = 20s});
  if (!adopted) {
    std::cerr << adopted.error().message << '\n';
    return 2;
  }
  std::cout << "carrying on with token " << adopted->fencing_token().value() << '\n';
  return adopted->release() ? 0 : 3;
}

}  // namespace

int main(int argc, char** argv) {
  const example::Nodes nodes(argc, argv);
  redlock::ClientOptions options;
  options.nodes = nodes.urls();
  std::string text;
  {
    auto client = redlock::Client::create(options);
    if (!client) return 1;
    auto granted = client->try_acquire_for("import", 5s, {.ttl = 10s, .fencing = true});
    if (!granted) {
      std::cerr << granted.error().message << '\n';
      return 1;
    }
    text = granted->detach().str();  // neither the lease nor the client will release it now
  }
  return carry_on(options, text);
}
