#include "redis/connection.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "redis/classify.hpp"
#include "redis/keys.hpp"
#include "redis/releases.hpp"
#include "support/assert.hpp"

namespace redlock::redis {

Connection::Connection(uv_loop_t* loop, ConnectionTarget target, ConnectionOwner& owner)
    : owner_(owner),
      target_(std::move(target)),
      reader_(target_.guard ? Protocol::resp3 : Protocol::resp2),
      stream_(loop, *this) {}

Connection::~Connection() {
  if (destroyed_ != nullptr) *destroyed_ = true;
}

void Connection::open() {
  REDLOCK_ASSERT(state_ == State::fresh);
  state_ = State::connecting;
  stream_.open(target_.endpoint);
}

void Connection::send(std::string_view encoded, std::span<const Sent> requests) {
  REDLOCK_ASSERT(state_ == State::ready && !requests.empty());
  unanswered_.push(requests);
  stream_.outbox().append(encoded);
  if (requests.back().releases != 0) releases_form_ = core::ScriptForm::digest;
}

void Connection::flush() { stream_.flush(); }

void Connection::close(uv::CloseMode mode) {
  if (state_ == State::closed) return;
  state_ = State::closed;
  stream_.close(mode);
}

void Connection::on_open() noexcept {
  state_ = State::shaking_hands;
  handshake_.emplace(target_, stream_.outbox());
  stream_.flush();
}

void Connection::on_bytes(std::string_view bytes) noexcept {
  bool destroyed = false;
  destroyed_ = &destroyed;
  reader_.feed(bytes);
  while (state_ != State::closed) {
    take_assents();
    if (destroyed) return;
    if (state_ == State::closed) break;
    const Value* value = reader_.next();
    if (value == nullptr) break;
    take(*value);
    if (destroyed) return;
    if (values_taken_ == 0) reader_.recycle();
  }
  destroyed_ = nullptr;
  if (state_ == State::closed) return;
  if (!reader_.malformed().empty()) {
    violated(reader_.malformed());
  } else if (state_ == State::ready && unanswered_.empty() && reader_.in_the_middle()) {
    violated("bytes that nobody asked for");
  }
}

/// All that come next, up to an answer that says more.
void Connection::take_assents() {
  // Another value of the same answer is none of its own.
  if (state_ != State::ready || values_taken_ != 0) return;
  std::size_t count = 0;
  if (assents_.size() < unanswered_.size()) assents_.resize(unanswered_.size());
  while (!unanswered_.empty()) {
    const Sent& request = unanswered_.front();
    const AssentForm& form = assent_forms_[static_cast<std::size_t>(request.stamp.verb)];
    const std::size_t requests = std::max<std::size_t>(request.releases, 1);
    const std::string_view yes = requests > 1 ? all_released(requests) : form.bytes;
    if (yes.empty() || !reader_.skip(yes)) break;
    for (std::size_t left = requests; left > 0; --left) {
      core::Assent& assent = assents_[count++];
      assent.stamp = unanswered_.front().stamp;
      assent.reply = form.reply;
      unanswered_.pop();
    }
  }
  if (count > 0) owner_.on_assents(std::span(assents_).first(count), marker_);
}

void Connection::take(const Value& value) {
  // A stream delivers bytes only between on_open and close.
  REDLOCK_ASSERT(state_ == State::shaking_hands || state_ == State::ready);
  if (value.type == Value::Type::push) return take_push(value);
  switch (state_) {
    case State::shaking_hands:
      take_handshake(value);
      return;
    case State::ready:
      take_answer(value);
      return;
    case State::fresh:
    case State::connecting:
    case State::closed:
      return;
  }
}

void Connection::take_handshake(const Value& value) {
  switch (handshake_->take(value)) {
    case Handshake::Progress::more:
      return;
    case Handshake::Progress::ask:
      handshake_->ask(stream_.outbox());
      stream_.flush();
      return;
    case Handshake::Progress::done: {
      state_ = State::ready;
      dialect_ = handshake_->identity().dialect;
      assent_forms_ = assent_forms(dialect_, target_.guard ? Protocol::resp3 : Protocol::resp2);
      // The owner may destroy the connection in the call, and still use the identity.
      const ServerIdentity identity = handshake_->identity();
      handshake_.reset();
      stream_.server_works();
      owner_.on_ready(identity);
      return;
    }
    case Handshake::Progress::refused: {
      const std::string why = handshake_->why();
      go_down(core::NodeDown::Cause::error, why, ProtocolError::none);
      return;
    }
    case Handshake::Progress::malformed:
      violated(handshake_->why());
      return;
  }
}

void Connection::take_answer(const Value& value) {
  if (unanswered_.empty()) {
    violated("an answer that nobody asked for");
    return;
  }
  if (unanswered_.front().releases != 0) return take_answer_to_releases(value);
  const core::Stamp stamp = unanswered_.front().stamp;
  values_[values_taken_++] = &value;
  if (values_taken_ < values_expected(stamp.verb)) return;
  const std::optional<Classified> answer =
      classify(stamp.verb, dialect_, std::span(values_).first(values_taken_));
  if (!answer) {
    violated("an answer that does not fit the request");
    return;
  }
  unanswered_.pop();
  values_taken_ = 0;
  if (stamp.verb == core::Verb::read_marker && answer->reply == core::Reply::marker) {
    remember_marker(answer->text);
  }
  owner_.on_answer(stamp, *answer);
}

void Connection::remember_marker(std::string_view text) {
  marker_answer_ = "$" + std::to_string(text.size()) + "\r\n";
  const std::size_t begin = marker_answer_.size();
  marker_answer_.append(text).append("\r\n");
  marker_ = std::string_view(marker_answer_).substr(begin, text.size());
  assent_forms_[static_cast<std::size_t>(core::Verb::read_marker)] = {marker_answer_,
                                                                      core::Reply::marker};
}

void Connection::take_answer_to_releases(const Value& value) {
  const std::size_t count = unanswered_.front().releases;
  const std::optional<std::vector<Classified>> answers = classify_releases(value, count);
  if (!answers) {
    violated("an answer that does not fit the request");
    return;
  }
  // In full next time, which makes it known.
  if (answers->front().reply == core::Reply::script_missing) {
    releases_form_ = core::ScriptForm::text;
  }
  const bool* const destroyed = destroyed_;
  for (const Classified& answer : *answers) {
    const core::Stamp stamp = unanswered_.front().stamp;
    unanswered_.pop();
    owner_.on_answer(stamp, answer);
    if (*destroyed || state_ != State::ready) return;
  }
}

void Connection::take_push(const Value& value) {
  // All other unsolicited messages of a server are ignored.
  const bool invalidation = value.elements.size() == 2 && value.elements[0]->text == "invalidate";
  if (!invalidation) return;
  const Value& changed = *value.elements[1];
  if (changed.type != Value::Type::array) {
    return go_down(core::NodeDown::Cause::error,
                   "its data was flushed or replaced: it may have forgotten what it was asked",
                   ProtocolError::none);
  }
  for (const Value* key : changed.elements) {
    if (key->text == keys::marker) {
      return go_down(core::NodeDown::Cause::error,
                     "its membership record changed: it may have forgotten what it was asked",
                     ProtocolError::none);
    }
  }
  // No other key was tracked before the handshake was over.
  if (state_ != State::ready) return;
  const bool* const destroyed = destroyed_;
  for (const Value* key : changed.elements) {
    report_change(key->text);
    if (*destroyed || state_ != State::ready) return;
  }
}

void Connection::report_change(std::string_view key) {
  const bool of_queue = key.starts_with(keys::queue_prefix);
  if (of_queue) key.remove_prefix(keys::queue_prefix.size());
  owner_.on_changed(of_queue ? core::Tracked::queue : core::Tracked::resource, key);
}

void Connection::on_failure(const uv::Failure& failure) noexcept {
  const std::string why = failure.message;
  go_down(core::NodeDown::Cause::unreachable, why, ProtocolError::none);
}

void Connection::violated(std::string_view how) {
  const std::string why = "protocol violation: " + std::string(how);
  go_down(core::NodeDown::Cause::error, why, ProtocolError::violation);
}

void Connection::go_down(core::NodeDown::Cause cause, std::string_view why,
                         ProtocolError protocol_error) {
  close(uv::CloseMode::reset);
  owner_.on_down(cause, why, protocol_error);
}

}  // namespace redlock::redis
