#pragma once

#include <functional>
#include <thread>

#include "common/system/platform.hpp"

namespace redlock::cli {

/// Notices that the reader of the standard output has ended, which a verb that prints only at a
/// change would notice at the next change.
class OutputReader {
 public:
  /// `on_gone` is called at most once, on a thread of this object. Throws std::system_error.
  explicit OutputReader(std::function<void()> on_gone);
  /// Waits for a call of `on_gone` that is under way.
  ~OutputReader();
  OutputReader(const OutputReader&) = delete;
  OutputReader& operator=(const OutputReader&) = delete;

 private:
  void wait() const;

  std::function<void()> on_gone_;
  platform::Wakeup end_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace redlock::cli
