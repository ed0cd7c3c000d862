#include "redis/connection/admin_connection.hpp"

#include <algorithm>
#include <utility>

#include "redis/batches/encoder.hpp"
#include "redis/values/visible.hpp"
#include "support/assert.hpp"

namespace redlock::redis {
namespace {

OwnedValue kept(const Value& value) {
  OwnedValue answer{value.type, value.integer, value.text, {}};
  answer.elements.reserve(value.elements.size());
  for (const Value* element : value.elements) answer.elements.push_back(kept(*element));
  return answer;
}

}  // namespace

void Questions::add(std::span<const std::string_view> words) {
  append_command(bytes_, words);
  ++count_;
}

AdminConnection::AdminConnection(uv_loop_t* loop, ConnectionTarget target,
                                 AdminConnectionOwner& owner)
    : owner_(owner),
      target_(std::move(target)),
      login_(loop, target_, uv::Callback::to<&AdminConnection::on_credentials>(*this)),
      stream_(loop, *this) {}

void AdminConnection::open() { login_.ask(); }

void AdminConnection::on_credentials() noexcept {
  if (state_ == State::connecting) return stream_.open(target_.endpoint);
  if (target_.endpoint.refused.empty()) return introduce();
  owner_.on_auth_result({target_.endpoint.refused, {}});
}

void AdminConnection::ask(const Questions& questions) {
  REDLOCK_ASSERT(state_ == State::idle);
  state_ = State::asking;
  expected_ = questions.count();
  if (target_.tag != nullptr) {
    target_.tag->append(stream_.outbox(), questions.bytes());
  } else {
    stream_.outbox().append(questions.bytes());
  }
  stream_.flush();
}

void AdminConnection::close() {
  if (state_ == State::closed) return;
  state_ = State::closed;
  login_.give_up();
  stream_.close(uv::CloseMode::reset);
}

void AdminConnection::on_open() noexcept { introduce(); }

void AdminConnection::introduce() {
  Questions introduction;
  if (!target_.user.empty()) {
    introduction.add({"AUTH", target_.user, target_.password});
  } else if (!target_.password.empty()) {
    introduction.add({"AUTH", target_.password});
  }
  if (target_.db != 0) introduction.add({"SELECT", std::to_string(target_.db)});
  state_ = State::idle;
  if (introduction.count() == 0) {
    owner_.on_auth_result({});
    return;
  }
  ask(introduction);
  state_ = State::authenticating;
}

void AdminConnection::on_bytes(std::string_view bytes) noexcept {
  reader_.feed(bytes);
  read();
  if (state_ == State::closed) return;
  if (!reader_.malformed().empty()) {
    end("protocol violation: " + std::string(reader_.malformed()));
  } else if (state_ == State::idle && reader_.in_the_middle()) {
    end("protocol violation: bytes that nobody asked for");
  }
}

void AdminConnection::read() {
  while (const Value* value = reader_.next()) {
    if (state_ == State::idle) {
      end("protocol violation: an answer that nobody asked for");
      return;
    }
    answers_.push_back(kept(*value));
    reader_.recycle();
    if (answers_.size() < expected_) continue;
    const bool authenticating = state_ == State::authenticating;
    state_ = State::idle;
    if (authenticating) {
      take_auth_result();
    } else {
      owner_.on_answers(std::exchange(answers_, {}));
    }
    if (state_ == State::closed) return;
  }
}

void AdminConnection::take_auth_result() {
  const bool refused = std::any_of(answers_.begin(), answers_.end(), [](const OwnedValue& answer) {
    return answer.is_error() && is_login_refusal(answer.text);
  });
  if (refused && target_.credentials && !asked_again_) {
    asked_again_ = true;
    answers_.clear();
    return login_.ask();
  }
  AuthResult result;
  const bool authenticated = !target_.user.empty() || !target_.password.empty();
  for (std::size_t i = 0; i < answers_.size(); ++i) {
    if (!answers_[i].is_error()) continue;
    if (authenticated && i == 0) {
      const std::string refusal(without_secrets(answers_[i].text, target_.password));
      result.authentication = at_primary(target_, "AUTH: " + refusal);
    } else {
      result.selection = "SELECT " + std::to_string(target_.db) + ": " + answers_[i].text;
    }
  }
  answers_.clear();
  owner_.on_auth_result(result);
}

void AdminConnection::on_failure(const uv::Failure& failure) noexcept {
  // A server that turns a connection away says why, and closes it.
  const bool turned_away = answers_.size() == 1 && answers_.front().is_error();
  end(at_primary(target_, turned_away ? answers_.front().text : failure.message));
}

void AdminConnection::end(const std::string& why) {
  close();
  owner_.on_end(why);
}

}  // namespace redlock::redis
