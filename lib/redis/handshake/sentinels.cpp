#include "redis/handshake/sentinels.hpp"

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
constexpr std::string_view no_sentinel = "it does not answer as a sentinel does";

}  // namespace

void PrimaryQuery::ask(Sentinels& sentinels) {
  sentinels_ = &sentinels;
  first_ = sentinels.next;
  tried_ = 0;
  problem_.clear();
  ask_next();
}

void PrimaryQuery::give_up() noexcept {
  if (!stream_) return;
  stream_.reset();
  timer_.reset();
  sentinels_->next = first_ + tried_ + 1;
}

void PrimaryQuery::ask_next() {
  const Sentinels& all = *sentinels_;
  reader_.emplace();
  uv::StreamListener& listener = *this;
  stream_.emplace(loop_, listener);
  timer_ = uv::make_handle<uv_timer_t>(
      this, "time for a sentinel", [&](uv_timer_t* timer) { return uv_timer_init(loop_, timer); });
  uv_timer_start(timer_.get(), on_timer, each_has.count(), 0);
  authenticating_ = !all.password.empty();
  if (!all.user.empty()) {
    append_command(stream_->outbox(), {"AUTH", all.user, all.password});
  } else if (authenticating_) {
    append_command(stream_->outbox(), {"AUTH", all.password});
  }
  append_command(stream_->outbox(), {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", all.service});
  stream_->open(all.endpoints[(first_ + tried_) % all.endpoints.size()]);
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
  if (!reader_->malformed().empty()) failed(no_sentinel);
}

void PrimaryQuery::take(const Value& value) {
  if (value.type == Value::Type::error) {
    const std::string why(without_secrets(value.text, sentinels_->password));
    const bool of_login = is_login_refusal(why) || why.starts_with("ERR AUTH");
    return failed(of_login ? why +
                                 " (the sentinels' login: sentinel_user and "
                                 "sentinel_password in the URL)"
                           : why);
  }
  if (value.type == Value::Type::nil) {
    return failed("it knows no service '" + visible(sentinels_->service) + "'");
  }
  const bool fits = value.type == Value::Type::array && value.elements.size() == 2 &&
                    value.elements[0]->type == Value::Type::bulk &&
                    value.elements[1]->type == Value::Type::bulk;
  const auto port = fits ? number_in<std::uint16_t>(value.elements[1]->text, 1,
                                                    std::numeric_limits<std::uint16_t>::max())
                         : std::nullopt;
  if (!port) return failed(no_sentinel);
  found(visible(value.elements[0]->text), *port);
}

void PrimaryQuery::found(const std::string& host, std::uint16_t port) {
  problem_.clear();
  host_ = host;
  port_ = port;
  sentinels_->next = first_ + tried_;
  stream_.reset();
  timer_.reset();
  answered_();
}

void PrimaryQuery::failed(std::string_view why) {
  const std::vector<uv::Endpoint>& all = sentinels_->endpoints;
  const uv::Endpoint& sentinel = all[(first_ + tried_) % all.size()];
  problem_ += problem_.empty() ? "no sentinel names the primary: " : "; ";
  problem_ += sentinel.host + ':' + std::to_string(sentinel.port) + ": ";
  problem_ += why;
  if (++tried_ < all.size()) return ask_next();
  sentinels_->next = first_ + 1;
  stream_.reset();
  timer_.reset();
  answered_();
}

void PrimaryQuery::on_failure(const uv::Failure& failure) noexcept {
  const std::string why = failure.message;
  failed(why);
}

}  // namespace redlock::redis
