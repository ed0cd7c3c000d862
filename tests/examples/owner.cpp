// The same owner may enter again, from another process too.

#include <chrono>
#include <iostream>
#include <string>

#include "nodes.hpp"
#include "redlock/redlock.hpp"

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const example::Nodes nodes(argc, argv);
  redlock::ClientOptions options;
  options.nodes = nodes.urls();
  auto client = redlock::Client::create(options);
  if (!client) return 1;

  const auto enter = [&](const std::string& owner) {
    return client->try_acquire(redlock::owned("import", owner), {.ttl = 10s});
  };
  auto outer = enter("nightly");
  auto inner = enter("nightly");  // elsewhere, in a process of the same job
  if (!outer || !inner) return 2;
  const auto stranger = enter("daily");
  std::cout << stranger.error().message << '\n';  // held … holder owner nightl…

  const auto left = inner->release();
  if (!left) return 3;
  std::cout << "holds that remain: " << *left->holds_left << '\n';
  const auto last = outer->release();
  if (!last) return 4;
  std::cout << "holds that remain: " << *last->holds_left << '\n';
  return enter("daily") ? 0 : 5;
}
