#include "redis/connection/subscriber.hpp"

#include <utility>

#include "redis/batches/encoder.hpp"
#include "redis/handshake/authentication.hpp"
#include "redis/values/keys.hpp"
#include "redis/values/visible.hpp"

namespace redlock::redis {

Subscriber::Subscriber(uv_loop_t* loop, ConnectionTarget target, std::string_view name,
                       SubscriberOwner& owner)
    : owner_(owner),
      target_(std::move(target)),
      login_(loop, target_, uv::Callback::to<&Subscriber::on_credentials>(*this)),
      channel_(std::string(keys::wake_channel) + std::string(name)),
      stream_(loop, *this) {}

Subscriber::~Subscriber() {
  if (destroyed_ != nullptr) *destroyed_ = true;
}

void Subscriber::open() { login_.ask(); }

void Subscriber::on_credentials() noexcept {
  authenticating_ = append_authentication(stream_.outbox(), target_);
  append_command(stream_.outbox(), {"SUBSCRIBE", channel_});
  stream_.open(target_.endpoint);
}

void Subscriber::probe() {
  if (closed_) return;
  append_command(stream_.outbox(), {"SUBSCRIBE", channel_});
  stream_.flush();
}

void Subscriber::close() {
  if (closed_) return;
  closed_ = true;
  login_.give_up();
  stream_.close(uv::CloseMode::reset);
}

void Subscriber::on_open() noexcept {
  // The other connection finds out whether the server is suitable.
  stream_.server_works();
  stream_.flush();
}

void Subscriber::on_bytes(std::string_view bytes) noexcept {
  bool destroyed = false;
  destroyed_ = &destroyed;
  reader_.feed(bytes);
  while (const Value* value = reader_.next()) {
    take(*value);
    if (destroyed) return;
    reader_.recycle();
    if (closed_) break;
  }
  destroyed_ = nullptr;
  if (!closed_ && !reader_.malformed().empty()) end(reader_.malformed());
}

void Subscriber::take(const Value& value) {
  if (value.type == Value::Type::error) {
    login_refused_ = is_login_refusal(value.text);
    return end(without_secrets(value.text, target_.password));
  }
  if (authenticating_) {
    authenticating_ = false;
    if (value.type != Value::Type::status) end("an answer that does not fit AUTH");
    return;
  }
  const bool fits = value.type == Value::Type::array && value.elements.size() == 3 &&
                    value.elements[0]->type == Value::Type::bulk;
  if (!fits) return end("an answer that does not fit SUBSCRIBE");
  if (value.elements[1]->text != channel_) return;
  if (value.elements[0]->text == "subscribe") return owner_.on_subscribed();
  std::string_view message = value.elements[2]->text;
  if (message.empty() || message.front() < '0' || message.front() > '9') return;
  const auto before = static_cast<std::uint32_t>(message.front() - '0');
  message.remove_prefix(1);
  owner_.on_notified(message, before);
}

void Subscriber::on_failure(const uv::Failure& failure) noexcept {
  const std::string why = failure.message;
  end(why);
}

void Subscriber::end(std::string_view why) {
  close();
  owner_.on_unsubscribed(why);
}

}  // namespace redlock::redis
