#pragma once

namespace redlock::bench {

/// The lock of a hand-over measurement: ours, or the floor's.
class HandoffLock {
 public:
  /// Whether the lock is free already, or another contender will hand it over. The floor cannot
  /// find out by itself.
  enum class Entry { free, waiting };
  /// Whether another contender waits for the released lock. The floor cannot find out by itself.
  enum class Next { nobody, waits };

  HandoffLock() = default;
  HandoffLock(const HandoffLock&) = delete;
  HandoffLock& operator=(const HandoffLock&) = delete;
  virtual ~HandoffLock() = default;

  /// Returns when the lock is granted. Throws std::runtime_error.
  virtual void acquire(Entry entry) = 0;
  /// Returns false if too few nodes confirmed the release. Throws std::runtime_error.
  [[nodiscard]] virtual bool release(Next next) = 0;
};

}  // namespace redlock::bench
