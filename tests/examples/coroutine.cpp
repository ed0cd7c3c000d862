// Locks in coroutines: co_await, and no thread is blocked.

#include <chrono>
#include <future>
#include <iostream>

#include "nodes.hpp"
#include "redlock/redlock.hpp"
#include "task.hpp"

using namespace std::chrono_literals;

namespace {

example::Task work(redlock::AsyncClient& client, std::promise<int>& done) {
  // In a statement of its own: see Awaitable.
  redlock::AcquireOptions options{.ttl = 10s};
  auto granted = co_await client.try_acquire_for("invoice/42", 5s, options);
  if (!granted) co_return done.set_value(2);
  std::cout << "holding " << granted->resource() << '\n';
  const auto extended = co_await client.extend(*granted, 20s);
  const auto released = co_await client.release(*std::move(granted));
  done.set_value(extended && released ? 0 : 3);
}

}  // namespace

int main(int argc, char** argv) {
  const example::Nodes nodes(argc, argv);
  redlock::ClientOptions options;
  options.nodes = nodes.urls();
  auto client = redlock::AsyncClient::create(options);
  if (!client) return 1;
  std::promise<int> done;
  work(*client, done);
  return done.get_future().get();
}
