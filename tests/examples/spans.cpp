// Make spans for a tracing system, such as OpenTelemetry, from a client's calls and leases.

#include <chrono>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "nodes.hpp"
#include "redlock/redlock.hpp"

using namespace std::chrono_literals;

namespace {

// Prints a span when it ends. With OpenTelemetry: StartSpan() with `begin` as the start time where
// one begins, AddEvent() for the loss, End() with the end time where it ends.
class Spans final : public redlock::Observer {
 public:
  void acquire_began(const redlock::AcquireObservation& call) noexcept override {
    open_[{"acquire", call.call}] = call.at;
  }
  void acquire_ended(const redlock::AcquireObservation& call) noexcept override {
    print("acquire", call.call, call.at, call.resource,
          call.failure ? redlock::to_string(*call.failure) : "granted");
  }
  void hold_began(const redlock::HoldObservation& hold) noexcept override {
    open_[{"hold", hold.call}] = hold.at;
  }
  void hold_ended(const redlock::HoldObservation& hold) noexcept override {
    print("hold", hold.call, hold.at, hold.resource, redlock::to_string(hold.end));
  }
  void lease_lost(const redlock::HoldObservation& hold) noexcept override {
    std::cerr << "lost " << hold.resource << '\n';
  }

 private:
  void print(std::string_view name, std::uint64_t call, redlock::BootClock::time_point end,
             std::string_view resource, std::string_view outcome) {
    const auto began = open_.extract({name, call});
    if (began.empty()) return;
    const auto took = end - began.mapped();
    // A tracing system wants wall clock time.
    const auto begin =
        std::chrono::system_clock::now() - (redlock::BootClock::now() - began.mapped());
    std::cout << "span " << name << ' ' << resource << ": " << outcome << ", "
              << std::chrono::duration_cast<std::chrono::microseconds>(took).count() << " us from "
              << std::chrono::system_clock::to_time_t(
                     std::chrono::time_point_cast<std::chrono::system_clock::duration>(begin))
              << '\n';
  }

  // Of one client: all calls come on its loop thread.
  std::map<std::pair<std::string_view, std::uint64_t>, redlock::BootClock::time_point> open_;
};

}  // namespace

int main(int argc, char** argv) {
  const example::Nodes nodes(argc, argv);
  redlock::ClientOptions options;
  options.nodes = nodes.urls();
  options.observer = std::make_shared<Spans>();
  auto client = redlock::Client::create(std::move(options));
  if (!client) return 1;

  auto granted = client->try_acquire_for("invoice/42", 10s);
  if (!granted) return 2;
  if (client->try_acquire("invoice/42")) return 3;  // a span that ends with "held"
  return granted->release() ? 0 : 4;
}
