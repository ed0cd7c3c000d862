#pragma once

#include <optional>
#include <string>
#include <utility>

#include "redlock/callback.hpp"
#include "redlock/inspection.hpp"
#include "redlock/result.hpp"
#include "redlock/token.hpp"

namespace redlock::api {

/// The last state of a resource that a watcher has seen. It decides which inspections are news.
class Sighting {
 public:
  /// Whether the inspection differs from the last one that was news. It corrects a misleading
  /// state: a resource that is reserved for the next client for a moment is free.
  [[nodiscard]] bool is_news(Inspection& inspection);

 private:
  struct Seen {
    Inspection::State state{};
    LockKind kind{};
    std::optional<Token> holder;
    std::string owner;
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  std::optional<Seen> last_;
};

/// A watch that has not ended. For the loop's thread only.
struct Watching {
  explicit Watching(Callback<void(Result<Inspection>)> callback) : changed(std::move(callback)) {}
  void see(Result<Inspection> seen) {
    if (changed) changed(std::move(seen));
  }
  Callback<void(Result<Inspection>)> changed;
  Sighting sighting;
};

}  // namespace redlock::api
