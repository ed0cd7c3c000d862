#include "chaos/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "chaos/arena.hpp"
#include "chaos/recorder.hpp"
#include "chaos/terms.hpp"

namespace redlock::chaos {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t resource_count = 3;
constexpr milliseconds check_every{50};
/// How long a healed deployment can need, on a busy machine, until every contender has had
/// everything: quarantines, the ends of leases, backoffs.
constexpr milliseconds progress_limit{20'000};

milliseconds fault_time(milliseconds duration) {
  return duration - std::min(milliseconds{2500}, duration / 4);
}

/// A fault that lasts, and when it began.
struct Open {
  Fault fault;
  std::int64_t begun = 0;
};

class Conductor {
 public:
  Conductor(const RunRequest& request, const cli::Signals& signals)
      : request_(request), signals_(signals), recorder_(request.histories / "run.history") {}

  int run() {
    ArenaRequest arena_request;
    arena_request.servers = request_.servers;
    arena_request.histories = request_.histories;
    arena_request.seed = request_.seed;
    arena_request.nodes = request_.nodes;
    arena_request.service = request_.service;
    arena_request.contenders = request_.contenders;
    arena_request.unsafe = request_.unsafe;
    arena_request.foreign = request_.foreign;
    arena_request.ports = request_.ports;
    for (std::size_t i = 0; i < resource_count; ++i) {
      arena_request.resources.push_back(fmt::format("chaos-{}", static_cast<char>('a' + i)));
    }
    if (request_.kinds.contains(FaultKind::clock)) {
      arena_request.clocks = FaultServer::WallClock::movable;
    }
    arena_request.strangers = request_.kinds.contains(FaultKind::name);
    Arena arena(arena_request, signals_);
    begin_ = boot_now();
    const std::size_t nodes = request_.service == nullptr ? request_.nodes : 1;
    recorder_.write(fmt::format("run {} {} {} {} {} {} {}", request_.seed, nodes,
                                request_.contenders, fmt::join(arena_request.resources, ","),
                                begin_, std::chrono::nanoseconds(request_.duration).count(),
                                list_of(request_.kinds)));
    if (request_.service != nullptr) {
      recorder_.write(fmt::format("service {} {} {}", request_.service->name, request_.nodes,
                                  std::chrono::nanoseconds(max_ttl).count()));
    }
    if (!request_.unsafe.empty()) recorder_.write(fmt::format("unsafe {}", request_.unsafe));
    recorder_.write(fmt::format("permits {}", permits));
    recorder_.write(fmt::format("interval {} {}", interval_resource,
                                std::chrono::nanoseconds(interval).count()));
    if (!request_.foreign.empty()) {
      recorder_.write(
          fmt::format("foreign {} {}", request_.contenders - 1, fmt::join(request_.foreign, " ")));
    }
    arena.start_contenders();
    if (const int signal = break_and_mend(arena)) return signal;
    recorder_.write(fmt::format("healed {}", boot_now()));
    tell("everything is healed");
    // Written after the record, so that the contenders' actions come later than the record.
    if (!std::ofstream(request_.histories / healed_file)) {
      throw std::runtime_error("chaos: the folder of the histories cannot be written");
    }
    const int signal = wait_for_progress(arena);
    recorder_.write(fmt::format("finished {}", boot_now()));
    return signal;
  }

 private:
  int break_and_mend(Arena& arena) {
    const std::vector<Fault> faults = schedule_of(request_);
    auto next = faults.begin();
    while (next != faults.end() || !open_.empty() || now() < fault_time(request_.duration)) {
      const auto healed =
          std::min_element(open_.begin(), open_.end(),
                           [](const Open& a, const Open& b) { return a.fault.end < b.fault.end; });
      milliseconds due = now() + check_every;
      if (next != faults.end()) due = std::min(due, next->begin);
      if (healed != open_.end()) due = std::min(due, healed->fault.end);
      if (const int signal = wait_until(arena, due)) {
        for (const Open& open : open_) record(open);
        return signal;
      }
      // Faults are healed first, because a fault that begins now may be about the same node.
      if (healed != open_.end() && healed->fault.end <= now()) {
        arena.heal(healed->fault);
        record(*healed);
        open_.erase(healed);
      } else if (next != faults.end() && next->begin <= now()) {
        begin(arena, *next++);
      }
      show();
    }
    return 0;
  }

  void begin(Arena& arena, const Fault& planned) {
    const Fault fault = arena.aimed(planned);
    const Open open{fault, boot_now()};
    tell(describe(fault));
    arena.begin(fault);
    if (fault.end > fault.begin) {
      open_.push_back(open);
    } else {
      record(open);
    }
  }

  int wait_for_progress(Arena& arena) {
    const milliseconds limit = now() + progress_limit;
    while (!arena.all_done() && now() < limit) {
      arena.look_at_markers();
      if (const int signal = wait_until(arena, now() + check_every)) return signal;
      show();
    }
    return 0;
  }

  /// The number of the signal that ends the run, or 0.
  int wait_until(Arena& arena, milliseconds due) {
    for (;;) {
      arena.look_after(recorder_);
      while (const auto signal = signals_.take()) {
        if (*signal == SIGTSTP) static_cast<void>(::kill(::getpid(), SIGSTOP));
        if (cli::ends_process(*signal)) return *signal;
      }
      const milliseconds left = due - now();
      if (left <= milliseconds{0}) return 0;
      pollfd watched{signals_.fd(), POLLIN, 0};
      // An interrupted wait only checks early.
      static_cast<void>(::poll(&watched, 1, static_cast<int>(left.count())));
    }
  }

  void record(const Open& open) const {
    const Fault& fault = open.fault;
    recorder_.write(fmt::format(
        "fault {} {} {} {} {} {}", to_string(kind_of(fault.form)), to_string(fault.form),
        fault.node ? static_cast<int>(*fault.node) : -1, fault.contenders, open.begun, boot_now()));
  }

  [[nodiscard]] std::string describe(const Fault& fault) const {
    std::string text = fmt::format("{:7.3f} s  {}", static_cast<double>(now().count()) / 1e3,
                                   to_string(fault.form));
    if (fault.node) {
      text += fmt::format(", {} {}", request_.service == nullptr ? "node" : "server", *fault.node);
    }
    for (std::size_t slot = 0; slot < request_.contenders; ++slot) {
      if ((fault.contenders >> slot & 1U) != 0) text += fmt::format(", contender {}", slot);
    }
    if (fault.amount.count() > 0) text += fmt::format(", by {} ms", fault.amount.count());
    if (fault.end > fault.begin) {
      text += fmt::format(", for {} ms", (fault.end - fault.begin).count());
    }
    return text;
  }

  void tell(std::string_view line) const {
    if (request_.tell) request_.tell(line);
  }

  void show() const {
    if (!request_.show) return;
    std::string broken;
    for (const Open& open : open_) {
      fmt::format_to(std::back_inserter(broken), "{}{}", broken.empty() ? "" : ", ",
                     to_string(open.fault.form));
    }
    request_.show(now(), broken.empty() ? "nothing is broken" : broken);
  }

  [[nodiscard]] milliseconds now() const {
    return std::chrono::duration_cast<milliseconds>(std::chrono::nanoseconds{boot_now() - begin_});
  }

  const RunRequest& request_;
  const cli::Signals& signals_;
  Recorder recorder_;
  std::int64_t begin_ = 0;
  std::vector<Open> open_{};
};

}  // namespace

std::vector<Fault> schedule_of(const RunRequest& request) {
  ScheduleRequest schedule;
  schedule.seed = request.seed;
  schedule.kinds = request.kinds;
  schedule.nodes = request.nodes;
  schedule.contenders = request.contenders;
  schedule.forgetting = request.foreign.empty();
  schedule.length = fault_time(request.duration);
  if (request.service == nullptr) return make_schedule(schedule);
  schedule.manager = request.service->manager;
  return make_service_schedule(schedule);
}

int run(const RunRequest& request, const cli::Signals& signals) {
  return Conductor(request, signals).run();
}

}  // namespace redlock::chaos
