#include "core/nodes/reign.hpp"

#include <limits>
#include <utility>

namespace redlock::core {
namespace {

/// How many replicas have attached since the record. More than there are servers if an operator has
/// reset the number: it then proves nothing.
std::uint64_t moved_since(const ReignRecord& record, std::uint64_t attachments) noexcept {
  return attachments >= record.attachments ? attachments - record.attachments
                                           : std::numeric_limits<std::uint32_t>::max();
}

std::string followers(std::uint64_t count, std::size_t servers, std::uint64_t needed) {
  return std::to_string(count + 1) + " of its " + std::to_string(servers) +
         (count == 0 ? " servers is" : " servers are") + " up to date; " +
         std::to_string(needed + 1) + " are needed";
}

}  // namespace

void Reign::read(std::string_view text, const std::optional<Marker>& marker, Instant now) {
  const std::optional<ReignRecord> before = std::move(record_);
  record_text_.assign(text);
  record_ = parse_reign(text);
  if (record_ && !(marker && is_reign_of(*record_, *marker))) record_.reset();
  const bool goes_on = before && record_ && before->confirmed_at == record_->confirmed_at;
  if (!goes_on) seen_at_ = now;
}

void Reign::set_stands(bool stands, std::string_view why_not) {
  if (stands != stands_) version_->changed();
  stands_ = stands;
  why_not_.assign(why_not);
}

void Reign::met(std::string_view text, const std::optional<Marker>& marker, Instant now) {
  if (!is_replicated()) return;
  read(text, marker, now);
  moved_ = 0;
  unread_ = true;
  // Each vote is proven by a reading of its own.
  set_stands(record_.has_value(), "its replicas have not been counted yet");
}

bool Reign::take(const ReignReading& reading, const Marker& marker, Instant now) {
  const std::optional<ReignRecord> before = record_;
  read(reading.record, marker, now);
  if (std::exchange(unread_, false)) version_->changed();
  const bool another = record_ && !(before && before->confirmed_at == record_->confirmed_at);
  moved_ = record_ ? moved_since(*record_, reading.attachments) : 0;
  const bool unbroken = record_ && reading.acknowledged >= needed() + moved_;
  if (has_too_many(reading)) {
    set_stands(false,
               "it has more servers than the " + std::to_string(servers_) + " that its URL says");
  } else if (!has_enough(reading)) {
    set_stands(false, followers(reading.acknowledged, servers_, needed()));
  } else {
    set_stands(unbroken && !another,
               record_ ? "its replicas were away: it is not known whether a majority stayed"
                       : "its primary is new");
  }
  return !another;
}

}  // namespace redlock::core
