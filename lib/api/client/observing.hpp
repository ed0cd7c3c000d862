#pragma once

#include <optional>
#include <string>

#include "api/client/completions.hpp"
#include "api/leases/lease_cell.hpp"
#include "core/vocabulary/messages.hpp"
#include "redlock/observer.hpp"

namespace redlock::api {

/// Tells a client's observer, if there is one, of its acquire calls and leases, as completions.
class Observing {
 public:
  /// `observer`: null if there is none.
  Observing(Observer* observer, Completions& completions) noexcept
      : observer_(observer), completions_(completions) {}

  [[nodiscard]] bool has_observer() const noexcept { return observer_ != nullptr; }
  void began(core::CallId call, const std::string& resource);
  void ended(core::CallId call, const std::string& resource, std::optional<Errc> failure);
  void granted(core::CallId call, const std::string& resource, const LeaseCell& cell);
  void over(const LeaseCell& cell, HoldObservation::End end);

 private:
  Observer* const observer_;
  Completions& completions_;
};

}  // namespace redlock::api
