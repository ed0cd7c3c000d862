#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/membership/marker.hpp"
#include "core/membership/reign.hpp"
#include "core/nodes/mandate.hpp"
#include "core/vocabulary/reign_reading.hpp"
#include "core/vocabulary/time.hpp"

namespace redlock::core {

/// The reign of a replicated node's primary, as this client knows it. Votes of the node count while
/// it stands; of a node that is no replicated one it always does. The rules are in
/// tools/docs/design/reigns.md.
class Reign {
 public:
  /// `servers`: how many the node is; 1: it is no replicated node.
  Reign(std::size_t servers, VoteVersion& version) : version_(&version), servers_(servers) {}

  [[nodiscard]] bool is_replicated() const noexcept { return servers_ > 1; }
  [[nodiscard]] std::size_t servers() const noexcept { return servers_; }
  /// Followers that are, with their primary, a majority of the servers.
  [[nodiscard]] std::uint64_t needed() const noexcept { return servers_ / 2; }
  /// The acknowledgements that prove the reign, as far as the attachments are known.
  [[nodiscard]] std::uint64_t wanted() const noexcept {
    return std::min<std::uint64_t>(servers_ - 1, needed() + moved_);
  }
  /// Whether the primary's reign goes on, as far as this client knows: a majority has followed it
  /// without a break since its record.
  [[nodiscard]] bool stands() const noexcept { return servers_ == 1 || stands_; }
  [[nodiscard]] const std::string& why_not() const noexcept { return why_not_; }
  /// The address of the server that was reached last; empty: not known.
  [[nodiscard]] const std::string& primary() const noexcept { return primary_; }
  /// "it has a new primary, 10.0.0.7:6379". Without any record, there was none before.
  [[nodiscard]] std::string new_primary() const {
    if (!record_text_.empty())
      return "it has a new primary" + (primary_.empty() ? primary_ : ", " + primary_);
    return std::string(servers_are_new) + (primary_.empty() ? "" : "; its primary is " + primary_);
  }
  [[nodiscard]] bool cannot_be_recorded() const noexcept { return !write_error_.empty(); }
  /// The record that was last read; none: the primary has none of its own.
  [[nodiscard]] const std::optional<ReignRecord>& record() const noexcept { return record_; }
  /// The record word for word, whosever it is; empty: there is none.
  [[nodiscard]] const std::string& record_text() const noexcept { return record_text_; }
  /// How many replicas have attached since the record.
  [[nodiscard]] std::uint64_t moved() const noexcept { return moved_; }

  /// More replicas than the node has: two majorities of fewer servers may have nobody in common.
  [[nodiscard]] bool has_too_many(const ReignReading& reading) const noexcept {
    return reading.acknowledged >= servers_ || reading.attached >= servers_;
  }
  /// Whether a majority follows now, with or without a break since the record, and no more servers
  /// than there are.
  [[nodiscard]] bool has_enough(const ReignReading& reading) const noexcept {
    return reading.acknowledged >= needed() && !has_too_many(reading);
  }

  /// The handshake found this record beside this marker.
  void met(std::string_view text, const std::optional<Marker>& marker, std::string_view primary,
           Instant now);
  /// The primary said this. False: it has begun another reign since the handshake, whose quarantine
  /// this client does not know.
  [[nodiscard]] bool take(const ReignReading& reading, const Marker& marker, Instant now);
  /// The primary has refused to write a record, with this error.
  void refused_to_write(std::string_view error);
  /// When this client first saw that the present reign was confirmed.
  [[nodiscard]] Instant seen_at() const noexcept { return seen_at_; }
  /// Nothing was read since the handshake that would say whether a majority follows, or what was
  /// read waited for too few followers.
  [[nodiscard]] bool is_unread() const noexcept { return is_replicated() && !stands_ && unread_; }

 private:
  void read(std::string_view text, const std::optional<Marker>& marker, Instant now);
  void set_stands(bool stands, std::string_view why_not);
  [[nodiscard]] std::string why_not_standing(const ReignReading& reading) const;

  VoteVersion* version_;
  std::size_t servers_;
  std::string record_text_;
  std::optional<ReignRecord> record_;
  std::uint64_t moved_ = 0;
  Instant seen_at_ = Instant::min();
  bool stands_ = false;
  bool unread_ = false;
  std::string why_not_;
  std::string primary_;
  std::string write_error_;
};

}  // namespace redlock::core
