// A service on a libuv loop of its own: it stands for election, works once in a while as long as it
// leads, and shuts down cleanly when it is told to.

#include <uv.h>

#include <csignal>
#include <iostream>
#include <utility>

#include "nodes.hpp"
#include "redlock/redlock.hpp"

namespace {

class Service {
 public:
  Service(uv_loop_t* loop, redlock::AsyncClient client)
      : client_(std::move(client)), election_(client_, "scheduler", {.candidate = "host-1"}) {
    uv_timer_init(loop, &timer_);
    uv_signal_init(loop, &terminate_);
    timer_.data = terminate_.data = this;
  }

  void start() {
    uv_signal_start(
        &terminate_, [](uv_signal_t* signal, int) { self(signal->data).stop(); }, SIGTERM);
    election_.campaign([this](redlock::Result<redlock::Leadership> elected) {
      if (!elected) {  // cancelled or closed: the service ends
        std::cout << elected.error().message << '\n';
        return;
      }
      leadership_ = *std::move(elected);
      std::cout << "leading, term " << leadership_.term() << '\n';
      uv_timer_start(
          &timer_, [](uv_timer_t* timer) { self(timer->data).work(); }, 0, 10);
    });
  }

  [[nodiscard]] int jobs() const { return jobs_; }

 private:
  [[nodiscard]] static Service& self(void* data) { return *static_cast<Service*>(data); }

  void work() {
    if (!leadership_.valid()) return stop();  // lost: another one leads, or will
    std::cout << "job " << ++jobs_ << " of term " << leadership_.term() << '\n';
    if (jobs_ == 3) std::raise(SIGTERM);  // what systemd would send
  }

  /// Resigns first, so that the next leader need not wait; then nothing is left on the loop.
  void stop() {
    if (uv_is_closing(reinterpret_cast<uv_handle_t*>(&timer_))) return;
    uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
    uv_close(reinterpret_cast<uv_handle_t*>(&terminate_), nullptr);
    election_.resign(std::move(leadership_), [this](const redlock::Result<redlock::Round>& round) {
      std::cout << (round ? "resigned" : round.error().message) << '\n';
      client_.close([](const redlock::CloseReport& report) {
        for (const auto& node : report.undelivered) std::cerr << "not told: " << node.url << '\n';
      });
    });
  }

  redlock::AsyncClient client_;
  redlock::AsyncElection election_;
  redlock::Leadership leadership_{redlock::Lease()};
  uv_timer_t timer_{};
  uv_signal_t terminate_{};
  int jobs_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const example::Nodes nodes(argc, argv);
  uv_loop_t loop;
  if (uv_loop_init(&loop) != 0) return 1;
  redlock::ClientOptions options;
  options.nodes = nodes.urls();
  auto client = redlock::AsyncClient::create(std::move(options), &loop);
  if (!client) return 2;

  Service service(&loop, *std::move(client));
  service.start();
  uv_run(&loop, UV_RUN_DEFAULT);  // until nothing is left on it
  return uv_loop_close(&loop) == 0 && service.jobs() == 3 ? 0 : 3;
}
