#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

namespace redlock::support {

/// A value that one thread waits for and another thread gives, once.
template <typename T>
class Handover {
 public:
  void give(T value) {
    {
      const std::lock_guard lock(mutex_);
      value_ = std::move(value);
    }
    given_.notify_one();
  }
  [[nodiscard]] T wait() {
    std::unique_lock lock(mutex_);
    given_.wait(lock, [this] { return value_.has_value(); });
    return *std::move(value_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable given_;
  std::optional<T> value_;
};

}  // namespace redlock::support
