// The lock in the shape of a std::mutex, with a number by which the storage refuses late writers.

#include <chrono>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

#include "nodes.hpp"
#include "redlock/redlock.hpp"

using namespace std::chrono_literals;

namespace {

/// In place of a storage that all machines share. It compares and writes in one step.
class Account {
 public:
  explicit Account(int balance) : balance_(balance) {}

  /// False: a holder with a larger number has written. Equal is allowed: threads that pass a lease
  /// on share its number.
  bool add(int amount, redlock::FencingToken token) {
    if (token < largest_) return false;
    largest_ = token;
    balance_ += amount;
    return true;
  }
  [[nodiscard]] int balance() const { return balance_; }

 private:
  int balance_;
  redlock::FencingToken largest_;
};

}  // namespace

int main(int argc, char** argv) {
  const example::Nodes nodes(argc, argv);
  redlock::ClientOptions options;
  options.nodes = nodes.urls();
  auto client = redlock::Client::create(options);
  if (!client) return 1;

  const redlock::AcquireOptions fenced{.ttl = 10s, .fencing = true};
  redlock::Mutex from(*client, "account/1", fenced);
  redlock::Mutex to(*client, "account/2", fenced);
  Account first(100);
  Account second(0);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 10; ++i) {
      threads.emplace_back([&] {
        const std::scoped_lock both(from, to);  // in any order: no deadlock
        if (first.add(-10, from.lease().fencing_token().value())) {
          second.add(10, to.lease().fencing_token().value());
        }
      });
    }
  }
  std::unique_lock lock(from, 100ms);
  if (!lock) return 2;
  std::cout << first.balance() << " and " << second.balance() << '\n';
  return first.balance() == 0 && second.balance() == 100 ? 0 : 3;
}
