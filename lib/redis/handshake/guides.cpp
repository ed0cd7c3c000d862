#include "redis/handshake/guides.hpp"

#include <chrono>
#include <limits>
#include <utility>

#include "redis/batches/encoder.hpp"
#include "redis/handshake/login.hpp"
#include "redis/values/url_text.hpp"
#include "redis/values/visible.hpp"

namespace redlock::redis {
namespace {

/// The owner of a connection gives up after a second, by default.
constexpr std::chrono::duration<std::uint64_t, std::milli> each_has{200};

[[nodiscard]] std::string_view no_guide(const Guides& guides) noexcept {
  return guides.slot ? "it does not answer as a server of a cluster does"
                     : "it does not answer as a sentinel does";
}

}  // namespace

void PrimaryQuery::ask(Guides& guides) {
  guides_ = &guides;
  first_ = guides.next;
  tried_ = 0;
  problem_.clear();
  ask_next();
}

void PrimaryQuery::give_up() noexcept {
  if (!stream_) return;
  stream_.reset();
  timer_.reset();
  guides_->next = first_ + tried_ + 1;
}

void PrimaryQuery::ask_next() {
  const Guides& all = *guides_;
  reader_.emplace();
  uv::StreamListener& listener = *this;
  stream_.emplace(loop_, listener);
  timer_ = uv::make_handle<uv_timer_t>(
      this, "time for a guide", [&](uv_timer_t* timer) { return uv_timer_init(loop_, timer); });
  uv_timer_start(timer_.get(), on_timer, each_has.count(), 0);
  authenticating_ = !all.password.empty();
  if (!all.user.empty()) {
    append_command(stream_->outbox(), {"AUTH", all.user, all.password});
  } else if (authenticating_) {
    append_command(stream_->outbox(), {"AUTH", all.password});
  }
  if (all.slot) {
    append_command(stream_->outbox(), {"CLUSTER", "SLOTS"});
  } else {
    append_command(stream_->outbox(), {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", all.service});
  }
  stream_->open(asked());
}

const uv::Endpoint& PrimaryQuery::asked() const noexcept {
  return guides_->endpoints[(first_ + tried_) % guides_->endpoints.size()];
}

void PrimaryQuery::on_timer(uv_timer_t* timer) noexcept {
  static_cast<PrimaryQuery*>(timer->data)->failed("no answer within 200 ms");
}

void PrimaryQuery::on_open() noexcept { stream_->flush(); }

void PrimaryQuery::on_bytes(std::string_view bytes) noexcept {
  reader_->feed(bytes);
  while (const Value* const value = reader_->next()) {
    const bool was_login = std::exchange(authenticating_, false);
    if (!was_login || value->type == Value::Type::error) return take(*value);
    reader_->recycle();
  }
  if (!reader_->malformed().empty()) failed(no_guide(*guides_));
}

void PrimaryQuery::take(const Value& value) {
  if (value.type == Value::Type::error) {
    const std::string why(without_secrets(value.text, guides_->password));
    const bool of_login = is_login_refusal(why) || why.starts_with("ERR AUTH");
    return failed(of_login && !guides_->slot ? why +
                                                   " (the sentinels' login: sentinel_user and "
                                                   "sentinel_password in the URL)"
                                             : why);
  }
  if (value.type == Value::Type::nil) {
    return failed("it knows no service '" + visible(guides_->service) + "'");
  }
  if (guides_->slot) return take_slots(value);
  const bool fits = value.type == Value::Type::array && value.elements.size() == 2;
  if (!fits) return failed(no_guide(*guides_));
  take_primary(*value.elements[0], *value.elements[1]);
}

/// Each range of slots: first, last, its primary {host, port, …}, and replicas.
void PrimaryQuery::take_slots(const Value& slots) {
  const auto is_number = [](const Value& value) { return value.type == Value::Type::integer; };
  if (slots.type != Value::Type::array) return failed(no_guide(*guides_));
  for (const Value* range : slots.elements) {
    const std::vector<const Value*>& words = range->elements;
    if (words.size() < 3 || !is_number(*words[0]) || !is_number(*words[1]) ||
        words[2]->elements.size() < 2) {
      return failed(no_guide(*guides_));
    }
    if (*guides_->slot < words[0]->integer || *guides_->slot > words[1]->integer) continue;
    return take_primary(*words[2]->elements[0], *words[2]->elements[1]);
  }
  failed("no server of the cluster has slot " + std::to_string(*guides_->slot));
}

void PrimaryQuery::take_primary(const Value& host, const Value& port) {
  // A server of a cluster that does not know its own address means the one at which it was asked.
  const bool same_host = guides_->slot && (host.type == Value::Type::nil || host.text.empty());
  const std::string text =
      port.type == Value::Type::integer ? std::to_string(port.integer) : port.text;
  const auto number = number_in<std::uint16_t>(text, 1, std::numeric_limits<std::uint16_t>::max());
  if (!number || (!same_host && host.type != Value::Type::bulk)) {
    return failed(no_guide(*guides_));
  }
  found(same_host ? asked().host : visible(host.text), *number);
}

void PrimaryQuery::found(const std::string& host, std::uint16_t port) {
  problem_.clear();
  host_ = host;
  port_ = port;
  guides_->next = first_ + tried_;
  stream_.reset();
  timer_.reset();
  answered_();
}

void PrimaryQuery::failed(std::string_view why) {
  const std::string_view none = guides_->slot ? "no server of the cluster names the primary: "
                                              : "no sentinel names the primary: ";
  problem_ += problem_.empty() ? none : "; ";
  problem_ += asked().host + ':' + std::to_string(asked().port) + ": ";
  problem_ += why;
  if (++tried_ < guides_->endpoints.size()) return ask_next();
  guides_->next = first_ + 1;
  stream_.reset();
  timer_.reset();
  answered_();
}

void PrimaryQuery::on_failure(const uv::Failure& failure) noexcept {
  const std::string why = failure.message;
  failed(why);
}

}  // namespace redlock::redis
