#include "api/client/blocking.hpp"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "api/client/watching.hpp"
#include "runtime/explain.hpp"

namespace redlock::api {

std::optional<Error> refuse(const Core& core) {
  if (!core) return runtime::explain(Errc::closed, {}, {});
  return core->refuse_blocking_call();
}

Result<Lease> acquire(Core core, Target&& target, AcquireOptions&& options,
                      std::chrono::nanoseconds wait, const std::stop_token& stop) {
  if (auto why = refuse(core)) return *std::move(why);
  return wait_for<Lease>(
      *core,
      [&](AcquireDone done) {
        return core->acquire(std::move(target), std::move(options), wait, std::move(done));
      },
      [&](RequestId request) {
        return std::stop_callback(stop, [core, request] { core->cancel(request); });
      });
}

namespace {

/// The latest inspection that the watching thread has not seen.
struct Inbox {
  std::mutex mutex;
  std::condition_variable_any filled;
  std::optional<Result<Inspection>> latest;
};

/// Ends a watch, also if the caller's function throws.
class WatchEnd {
 public:
  WatchEnd(std::shared_ptr<ClientCore> core, RequestId watch) noexcept
      : core_(std::move(core)), watch_(watch) {}
  WatchEnd(const WatchEnd&) = delete;
  WatchEnd& operator=(const WatchEnd&) = delete;
  ~WatchEnd() { core_->cancel(watch_); }

 private:
  std::shared_ptr<ClientCore> core_;
  RequestId watch_;
};

}  // namespace

Result<std::uint64_t> watch(const Core& core, std::string_view resource,
                            const std::function<void(const Inspection&)>& changed,
                            const std::stop_token& stop, WatchOptions options) {
  if (auto why = refuse(core)) return *std::move(why);
  if (!changed) return Error{Errc::invalid_argument, "changed: empty; a callback is needed", {}};
  const auto inbox = std::make_shared<Inbox>();
  const WatchEnd end(core, core->watch(resource, options, [inbox](Result<Inspection> seen) {
    const std::lock_guard lock(inbox->mutex);
    inbox->latest.emplace(std::move(seen));
    inbox->filled.notify_one();
  }));
  Sighting sighting;  // a change that was undone before this thread saw it is not reported
  std::uint64_t calls = 0;
  for (;;) {
    std::optional<Result<Inspection>> seen;
    {
      std::unique_lock lock(inbox->mutex);
      inbox->filled.wait(lock, stop, [&] { return inbox->latest.has_value(); });
      seen = std::exchange(inbox->latest, std::nullopt);
    }
    if (stop.stop_requested()) return calls;
    if (!*seen) return std::move(*seen).error();
    if (!sighting.is_news(**seen)) continue;
    ++calls;
    changed(**seen);
  }
}

}  // namespace redlock::api
