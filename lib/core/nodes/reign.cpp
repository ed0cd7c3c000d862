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

std::string not_written(const std::string& error) {
  return "the record of its reign cannot be written: " + error;
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

void Reign::met(std::string_view text, const std::optional<Marker>& marker,
                std::string_view primary, Instant now) {
  if (!is_replicated()) return;
  primary_.assign(primary);
  write_error_.clear();
  read(text, marker, now);
  moved_ = 0;
  unread_ = true;
  // Each vote is proven by a reading of its own.
  set_stands(record_.has_value(), "it is not known yet how many of its servers follow");
}

bool Reign::take(const ReignReading& reading, const Marker& marker, Instant now) {
  const std::optional<ReignRecord> before = record_;
  const std::uint64_t waited_for = wanted();
  read(reading.record, marker, now);
  const bool another = record_ && !(before && before->confirmed_at == record_->confirmed_at);
  moved_ = record_ ? moved_since(*record_, reading.attachments) : 0;
  const bool unbroken = record_ && reading.acknowledged >= needed() + moved_;
  const bool stands = unbroken && !another && has_enough(reading);
  // Those who attached may have acknowledged a moment after those for whom the reading waited.
  const bool waited_for_all = wanted() == waited_for || reading.acknowledged >= wanted();
  const bool unread = !stands && record_ && has_enough(reading) && !waited_for_all;
  if (std::exchange(unread_, unread) != unread) version_->changed();
  if (stands) write_error_.clear();
  set_stands(stands, stands ? std::string() : why_not_standing(reading));
  return !another;
}

std::string Reign::why_not_standing(const ReignReading& reading) const {
  if (has_too_many(reading)) {
    return "it has more servers than the " + std::to_string(servers_) + " that its URL says";
  }
  if (!has_enough(reading)) return followers(reading.acknowledged, servers_, needed());
  if (!write_error_.empty()) return not_written(write_error_);
  if (!record_) return {};
  return "a replica attached anew: it is not known whether a majority has followed all the time";
}

void Reign::refused_to_write(std::string_view error) {
  write_error_.assign(error);
  if (!stands_) why_not_ = not_written(write_error_);
}

}  // namespace redlock::core
