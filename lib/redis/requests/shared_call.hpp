#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/request.hpp"
#include "redis/values/reply.hpp"
#include "redis/values/script.hpp"

namespace redlock::redis {

/// The form in which several requests of a verb share one call: a script whose keys are their
/// resources, and whose arguments are their tokens and `common`. The script answers the number of
/// requests if all succeeded, else an array.
struct SharedForm {
  const scripts::Script* script = nullptr;
  /// The term that all requests share, sent in milliseconds; null: none.
  core::Duration core::Terms::*common = nullptr;
  std::optional<core::Duration> unsaid{};  ///< the script's default for `common`, not sent
  core::Reply all = core::Reply::done;     ///< the answer to each request if all succeeded
  /// The answer to each request if the script counts fewer without saying which; none: it never
  /// does.
  std::optional<core::Reply> fewer{};
  /// The meaning of one element of the array.
  std::optional<core::Answer> (*each)(const Value&) noexcept = nullptr;
};

/// One call for successive requests of one verb to the same nodes, each for one resource that
/// nobody shares. The call is most of what such a request costs a node, and a caller with many
/// locks makes many requests in one turn of its loop.
class SharedCall {
 public:
  /// The most requests in one call: a node answers nobody else while it runs a script.
  static constexpr std::size_t most = 64;

  /// Whether the call has room for this request, and all its requests have this form and the same
  /// common term.
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
  std::string resources_;  // as sent
  std::string tokens_;     // as sent
  std::string call_;
};

/// The meaning of one answer to a call of `count` requests, for each of them. Nothing: no Redis
/// server answers like this.
[[nodiscard]] std::optional<std::vector<core::Answer>> classify_shared(const SharedForm& form,
                                                                       const Value& value,
                                                                       std::size_t count);

}  // namespace redlock::redis
