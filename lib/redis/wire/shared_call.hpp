#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/messages.hpp"
#include "core/engine/request.hpp"
#include "redis/scripts/script.hpp"
#include "redis/wire/reply.hpp"

namespace redlock::redis {

/// How many requests of a verb are one call: a script whose keys are their resources, and whose
/// arguments are their tokens and what `common` says. It answers how many there are if each is
/// answered with yes, and else with an array.
struct SharedForm {
  const scripts::Script* script = nullptr;
  core::Duration core::Terms::*common = nullptr;  ///< the same in all of a call; in milliseconds
  std::optional<core::Duration> unsaid{};         ///< of `common`: what the script takes for it
  core::Reply all = core::Reply::done;            ///< what each is answered if all are
  /// The same if the script counts fewer, and does not say which; nothing: it does not do that.
  std::optional<core::Reply> fewer{};
  std::optional<core::Answer> (*each)(const Value&) noexcept = nullptr;  ///< one of the array
};

/// Requests of one verb that follow one another to the same nodes, each of one resource that nobody
/// shares: one call for all of them. Most of what such a request costs a node is the call. A caller
/// with many locks asks for many in the same turn of its loop.
class SharedCall {
 public:
  /// So many in one call: a node answers nobody else while it runs a script.
  static constexpr std::size_t most = 64;

  /// Whether it has room for this request, and all that is in it is of this form and has the same
  /// in common.
  [[nodiscard]] bool fits(const SharedForm& form, const core::Terms& terms) const noexcept;
  void add(const SharedForm& form, const core::Terms& terms);

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

  /// The call. Valid until the next one.
  [[nodiscard]] std::string_view encode(core::ScriptForm form);

  /// Makes it empty, keeping its memory.
  void clear() noexcept;

 private:
  const SharedForm* form_ = nullptr;
  core::Duration common_{};
  std::size_t count_ = 0;
  std::string resources_;  // as they are sent
  std::string tokens_;     // likewise
  std::string call_;
};

/// What one answer to a call of `count` requests says of each. Nothing: no Redis server answers
/// like this.
[[nodiscard]] std::optional<std::vector<core::Answer>> classify_shared(const SharedForm& form,
                                                                       const Value& value,
                                                                       std::size_t count);

}  // namespace redlock::redis
