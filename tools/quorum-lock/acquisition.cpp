#include "quorum-lock/acquisition.hpp"

#include <stop_token>
#include <utility>

namespace redlock::cli {

Acquisition acquire_until_signal(Client& client, Target target, AcquireOptions options,
                                 const Signals& signals) {
  std::stop_source stop;
  SignalWatcher watcher(signals, [&stop](int) { stop.request_stop(); });
  Acquisition acquisition{client.acquire(std::move(target), std::move(options), stop.get_token())};
  acquisition.signal = watcher.finish();
  if (acquisition.signal != 0 && acquisition.lease) {
    // Granted in the very moment in which the user gave up: nobody would release it.
    static_cast<void>(acquisition.lease->release());
    acquisition.lease = Error{Errc::cancelled, "cancelled by a signal"};
  }
  return acquisition;
}

}  // namespace redlock::cli
