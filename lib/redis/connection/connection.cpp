#include "redis/connection/connection.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "redis/batches/fenced_sets.hpp"
#include "redis/requests/row.hpp"
#include "redis/values/classify.hpp"
#include "redis/values/keys.hpp"
#include "support/assert.hpp"

namespace redlock::redis {
namespace {

bool are_fenced_sets(const Sent& request) noexcept {
  return request.together != 0 && core::is_short(request.stamp.verb);
}
/// The request's shared form; none: it is a call of its own, or one of FencedSets.
const SharedForm* shared_form_of(const Sent& request) noexcept {
  return request.together != 0 ? row_of(request.stamp.verb).shared : nullptr;
}

}  // namespace

Connection::Connection(uv_loop_t* loop, ConnectionTarget target, ConnectionOwner& owner)
    : owner_(owner),
      target_(std::move(target)),
      login_(loop, target_, uv::Callback::to<&Connection::on_credentials>(*this)),
      reader_(target_.guard ? Protocol::resp3 : Protocol::resp2),
      stream_(loop, *this) {}

Connection::~Connection() {
  if (destroyed_ != nullptr) *destroyed_ = true;
}

void Connection::open() {
  REDLOCK_ASSERT(state_ == State::fresh);
  state_ = State::connecting;
  login_.ask();
}

void Connection::on_credentials() noexcept {
  stream_.open(target_.endpoint);
  login_.look_again(uv::Callback::to<&Connection::on_moved>(*this));
}

void Connection::on_moved() noexcept {
  go_down(core::NodeDown::Cause::unreachable, "another server is the primary now",
          ProtocolError::none);
}

void Connection::append(std::string_view commands) {
  if (target_.tag != nullptr) return target_.tag->append(stream_.outbox(), commands);
  stream_.outbox().append(commands);
}

void Connection::send(std::string_view encoded, std::span<const Sent> requests,
                      std::string_view yes) {
  REDLOCK_ASSERT(state_ == State::ready && !requests.empty());
  unanswered_.push(requests);
  append(encoded);
  // The script is sent in full once, which makes it known to the server.
  if (shared_form_of(requests.back()) != nullptr) {
    calls_in_full_.reset(static_cast<std::size_t>(requests.back().stamp.verb));
  }
  if (are_fenced_sets(requests.back())) yes_to_fenced_sets_.push(yes);
}

void Connection::flush() { stream_.flush(); }

void Connection::close(uv::CloseMode mode) {
  if (state_ == State::closed) return;
  state_ = State::closed;
  login_.give_up();
  stream_.close(mode);
}

void Connection::on_open() noexcept {
  state_ = State::shaking_hands;
  std::string commands;
  handshake_.emplace(target_, commands);
  append(commands);
  stream_.flush();
}

void Connection::on_bytes(std::string_view bytes) noexcept {
  bool destroyed = false;
  destroyed_ = &destroyed;
  reader_.feed(bytes);
  while (state_ != State::closed) {
    const bool more = take_plain_yeses();
    if (destroyed) return;
    if (!more || state_ == State::closed) break;
    const Value* value = reader_.next();
    if (value == nullptr) break;
    take(*value);
    if (destroyed) return;
    if (values_.empty()) reader_.recycle();
  }
  destroyed_ = nullptr;
  if (state_ == State::closed) return;
  if (!reader_.malformed().empty()) {
    violated(reader_.malformed());
  } else if (state_ == State::ready && unanswered_.empty() && reader_.in_the_middle()) {
    violated("bytes that nobody asked for");
  }
}

/// The letters of the server's plain yes to the oldest request; empty: there is none, or the answer
/// is a time.
std::string_view Connection::yes_to_oldest() const noexcept {
  const Sent& request = unanswered_.front();
  if (are_fenced_sets(request)) return yes_to_fenced_sets_.front();
  if (request.together > 1) return yes_to_all(request.together);
  return plain_yes_forms_[static_cast<std::size_t>(request.stamp.verb)].bytes;
}

/// Takes the plain answers that come next, up to an answer with details.
bool Connection::take_plain_yeses() {
  // A further value of a started answer is not an answer of its own.
  if (state_ != State::ready || !values_.empty()) return true;
  std::size_t count = 0;
  bool incomplete = false;
  if (plain_yeses_.size() < unanswered_.size()) plain_yeses_.resize(unanswered_.size());
  while (!unanswered_.empty()) {
    const Sent oldest = unanswered_.front();
    const std::string_view yes = yes_to_oldest();
    if (yes.empty()) {
      if (!take_time(plain_yeses_[count])) break;
      ++count;
      continue;
    }
    if (!reader_.skip(yes)) {
      // The beginning of a long answer is a yes; its rest has not arrived.
      incomplete = are_fenced_sets(oldest) && reader_.has_beginning_of(yes);
      break;
    }
    if (are_fenced_sets(oldest)) yes_to_fenced_sets_.pop();
    const core::Reply reply = plain_yes_forms_[static_cast<std::size_t>(oldest.stamp.verb)].reply;
    for (std::size_t left = std::max<std::size_t>(oldest.together, 1); left > 0; --left) {
      plain_yeses_[count++] = {unanswered_.front().stamp, reply};
      unanswered_.pop();
    }
  }
  if (count > 0) owner_.on_plain_yeses(std::span(plain_yeses_).first(count), marker_);
  return !incomplete;
}

bool Connection::take_time(core::PlainYes& plain_yes) {
  const core::Stamp stamp = unanswered_.front().stamp;
  std::chrono::microseconds time{};
  if (stamp.verb != core::Verb::read_clock || !reader_.skip_time(time)) return false;
  plain_yes = {stamp, core::Reply::clock, time};
  unanswered_.pop();
  return true;
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
    case Handshake::Progress::ask: {
      std::string commands;
      handshake_->ask(commands);
      append(commands);
      stream_.flush();
      return;
    }
    case Handshake::Progress::done: {
      state_ = State::ready;
      login_.give_up();
      dialect_ = dialect_of(handshake_->identity().capabilities);
      plain_yes_forms_ =
          plain_yes_forms(dialect_, target_.guard ? Protocol::resp3 : Protocol::resp2);
      // The owner may destroy the connection in the call, and still use the identity.
      ServerIdentity identity = handshake_->identity();
      if (target_.guard && target_.guard->replicated) identity.primary = stream_.peer();
      handshake_.reset();
      stream_.server_works();
      owner_.on_ready(identity);
      return;
    }
    case Handshake::Progress::refused: {
      const std::string why = at_primary(target_, handshake_->why());
      login_refused_ = handshake_->login_refused();
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
  const Sent& oldest = unanswered_.front();
  if (const SharedForm* form = shared_form_of(oldest)) return take_answer_to_call(*form, value);
  if (are_fenced_sets(oldest)) return take_answer_to_fenced_sets(value);
  const core::Stamp stamp = oldest.stamp;
  values_.push_back(&value);
  if (values_.size() < values_expected(stamp.verb)) return;
  const std::optional<core::Answer> answer = classify(stamp.verb, dialect_, values_);
  if (!answer) {
    violated("an answer that does not fit the request");
    return;
  }
  unanswered_.pop();
  values_.clear();
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
  plain_yes_forms_[static_cast<std::size_t>(core::Verb::read_marker)] = {marker_answer_,
                                                                         core::Reply::marker};
}

void Connection::take_answer_to_call(const SharedForm& form, const Value& value) {
  const Sent oldest = unanswered_.front();
  const std::optional<std::vector<core::Answer>> answers =
      classify_shared(form, value, oldest.together);
  if (!answers) {
    violated("an answer that does not fit the request");
    return;
  }
  if (answers->front().reply == core::Reply::script_missing) {
    calls_in_full_.set(static_cast<std::size_t>(oldest.stamp.verb));
  }
  for (const core::Answer& each : *answers) {
    if (!answer(each)) return;
  }
}

void Connection::take_answer_to_fenced_sets(const Value& value) {
  values_.push_back(&value);
  if (values_.size() < unanswered_.front().together + FencedSets::further_values) return;
  const std::vector<const Value*> values = std::move(values_);
  values_.clear();
  yes_to_fenced_sets_.pop();
  const std::optional<std::vector<core::Answer>> answers = classify_fenced_sets(dialect_, values);
  if (!answers) {
    violated("an answer that does not fit the request");
    return;
  }
  for (const core::Answer& each : *answers) {
    if (!answer(each)) return;
  }
}

bool Connection::answer(const core::Answer& what) {
  const bool* const destroyed = destroyed_;
  const core::Stamp stamp = unanswered_.front().stamp;
  unanswered_.pop();
  owner_.on_answer(stamp, what);
  return !*destroyed && state_ == State::ready;
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
  // No key was tracked before the handshake was over.
  if (state_ != State::ready) return;
  const bool* const destroyed = destroyed_;
  for (const Value* key : changed.elements) {
    report_change(key->text);
    if (*destroyed || state_ != State::ready) return;
  }
}

void Connection::report_change(std::string_view key) {
  const std::string_view queue =
      target_.tag != nullptr ? std::string_view(target_.tag->queue_prefix()) : keys::queue_prefix;
  const bool of_queue = key.starts_with(queue);
  if (of_queue) key.remove_prefix(queue.size());
  owner_.on_changed(of_queue ? core::Tracked::queue : core::Tracked::resource, key);
}

void Connection::on_failure(const uv::Failure& failure) noexcept {
  const std::string why = at_primary(target_, failure.message);
  go_down(core::NodeDown::Cause::unreachable, why, ProtocolError::none);
}

void Connection::violated(std::string_view how) {
  const std::string why = "protocol violation: " + std::string(how);
  go_down(core::NodeDown::Cause::error, why, ProtocolError::violation);
}

void Connection::go_down(core::NodeDown::Cause cause, std::string_view why,
                         ProtocolError protocol_error) {
  // The guide that named this server may be the last to know.
  if (state_ != State::ready && target_.guides != nullptr) ++target_.guides->next;
  close(uv::CloseMode::reset);
  owner_.on_down(cause, why, protocol_error);
}

}  // namespace redlock::redis
