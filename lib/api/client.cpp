#include "redlock/client.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "api/client_core.hpp"
#include "api/ownership.hpp"
#include "api/waiter.hpp"
#include "api/waiting.hpp"
#include "api/watching.hpp"
#include "runtime/explain.hpp"

namespace redlock {
namespace {

/// Why a blocking call cannot be made. A client that was moved from has no core.
std::optional<Error> refuse(const std::shared_ptr<api::ClientCore>& core,
                            std::string_view resource) {
  if (!core) return runtime::explain(Errc::closed, resource, {});
  return core->refuse_blocking_call();
}

}  // namespace

Result<Client> Client::create(ClientOptions options) {
  auto core =
      api::ClientCore::create(std::move(options), nullptr, uv::LoopThread::Lending::when_idle);
  if (!core) return std::move(core).error();
  return Client(*std::move(core));
}

Client::Client(std::shared_ptr<api::ClientCore> core) noexcept : core_(std::move(core)) {}
Client::Client(Client&&) noexcept = default;

Client& Client::operator=(Client&& other) noexcept {
  if (this != &other) {
    const Client old = std::move(*this);
    core_ = std::move(other.core_);
  }
  return *this;
}

Client::~Client() {
  if (core_) core_->shut_down();
}

Result<Lease> Client::acquire(Target target, AcquireOptions options, const std::stop_token& stop) {
  const auto core = core_;
  if (auto why = refuse(core, target.resource())) return *std::move(why);
  return api::wait_for<Lease>(
      *core,
      [&](api::AcquireDone done) {
        return core->acquire(std::move(target), std::move(options), std::move(done));
      },
      [&](RequestId request) {
        return std::stop_callback(stop, [core, request] { core->cancel(request); });
      });
}

Result<Lease> Client::try_acquire(Target target, AcquireOptions options) {
  return acquire(std::move(target), api::asking_once(std::move(options)));
}

Result<Lease> Client::try_acquire_for(Target target, std::chrono::nanoseconds wait,
                                      AcquireOptions options, const std::stop_token& stop) {
  return acquire(std::move(target), api::waiting_for(std::move(options), wait), stop);
}

Result<Lease> Client::try_acquire_until(Target target, BootClock::time_point deadline,
                                        AcquireOptions options, const std::stop_token& stop) {
  return try_acquire_for(std::move(target), api::wait_until(deadline), std::move(options), stop);
}

Result<RoundReport> Client::extend(Target target, const Token& token,
                                   std::chrono::nanoseconds ttl) {
  const auto core = core_;
  if (auto why = refuse(core, target.resource())) return *std::move(why);
  return api::wait_for<RoundReport>(*core, [&](api::RoundDone done) {
    core->extend(std::move(target), token, ttl, std::move(done));
  });
}

Result<RoundReport> Client::release(Target target, const Token& token) {
  const auto core = core_;
  if (auto why = refuse(core, target.resource())) return *std::move(why);
  return api::wait_for<RoundReport>(*core, [&](api::RoundDone done) {
    core->release(std::move(target), token, std::move(done));
  });
}

Result<RoundReport> Client::break_lock(std::string_view resource, const Token& token,
                                       BreakOptions options) {
  const auto core = core_;
  if (auto why = refuse(core, resource)) return *std::move(why);
  return api::wait_for<RoundReport>(*core, [&](api::RoundDone done) {
    core->release(resource, token, std::move(done), options);
  });
}

Result<Inspection> Client::inspect(std::string_view resource) {
  const auto core = core_;
  if (auto why = refuse(core, resource)) return *std::move(why);
  return api::wait_for<Inspection>(*core, [&](api::InspectDone done) {
    core->inspect(resource, std::nullopt, std::move(done));
  });
}

Result<Ownership> Client::ownership(std::string_view resource, const Token& token) {
  const auto core = core_;
  if (auto why = refuse(core, resource)) return *std::move(why);
  return api::judge_ownership(api::wait_for<Inspection>(
      *core, [&](api::InspectDone done) { core->inspect(resource, token, std::move(done)); }));
}

namespace {

/// The latest inspection that the watching thread has not seen.
struct Inbox {
  std::mutex mutex;
  std::condition_variable_any filled;
  std::optional<Result<Inspection>> latest;
};

/// Ends a watch, also where the caller's function throws.
class WatchEnd {
 public:
  WatchEnd(std::shared_ptr<api::ClientCore> core, RequestId watch) noexcept
      : core_(std::move(core)), watch_(watch) {}
  WatchEnd(const WatchEnd&) = delete;
  WatchEnd& operator=(const WatchEnd&) = delete;
  ~WatchEnd() { core_->cancel(watch_); }

 private:
  std::shared_ptr<api::ClientCore> core_;
  RequestId watch_;
};

}  // namespace

Result<std::uint64_t> Client::watch(std::string_view resource,
                                    const std::function<void(const Inspection&)>& changed,
                                    const std::stop_token& stop, WatchOptions options) {
  const auto core = core_;
  if (auto why = refuse(core, resource)) return *std::move(why);
  if (!changed) return Error{Errc::invalid_argument, "changed: empty; a callback is needed", {}};
  const auto inbox = std::make_shared<Inbox>();
  const WatchEnd end(core, core->watch(resource, options, [inbox](Result<Inspection> seen) {
    const std::lock_guard lock(inbox->mutex);
    inbox->latest.emplace(std::move(seen));
    inbox->filled.notify_one();
  }));
  api::Sighting sighting;  // what was changed back before this thread saw it is no news
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

Result<Metrics> Client::metrics() const {
  const auto core = core_;
  if (auto why = refuse(core, {})) return *std::move(why);
  return api::wait_for<Metrics>(*core,
                                [&](api::MetricsDone done) { core->metrics(std::move(done)); });
}

Result<CloseReport> Client::close() {
  const auto core = core_;
  if (auto why = refuse(core, {})) return *std::move(why);
  return api::wait_for<CloseReport>(*core, [&](Callback<void(Result<CloseReport>)> done) {
    core->close([done = std::move(done)](const CloseReport& report) mutable { done(report); });
  });
}

Counters Client::counters() const noexcept { return core_ ? core_->counters() : Counters{}; }

}  // namespace redlock
