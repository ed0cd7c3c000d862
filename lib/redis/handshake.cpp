#include "redis/handshake.hpp"

#include <charconv>
#include <string_view>

#include "redis/encoder.hpp"
#include "redis/scripts_embedded.hpp"
#include "redis/visible.hpp"

namespace redlock::redis {
namespace {

/// What follows `field` on its line of an INFO; empty if there is none.
[[nodiscard]] std::string_view field_of(std::string_view info, std::string_view field) noexcept {
  while (!info.empty()) {
    const std::size_t end = info.find('\n');
    std::string_view line = info.substr(0, end);
    info.remove_prefix(end == std::string_view::npos ? info.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with(field)) return line.substr(field.size());
  }
  return {};
}

/// SET … NX GET is an error before Redis 7.0.
[[nodiscard]] SetForm set_form_of(std::string_view version) noexcept {
  constexpr int first_with_get = 7;
  int major = 0;
  const auto parsed = std::from_chars(version.data(), version.data() + version.size(), major);
  return parsed.ec == std::errc{} && major >= first_with_get ? SetForm::with_get : SetForm::plain;
}

/// Some errors repeat the words of the command, and AUTH's are secret.
[[nodiscard]] std::string_view without_secrets(std::string_view message,
                                               std::string_view password) noexcept {
  message = message.substr(0, message.find(", with args"));
  if (!password.empty() && message.find(password) != std::string_view::npos) {
    return message.substr(0, message.find(' '));
  }
  return message;
}

}  // namespace

Handshake::Handshake(const ConnectionTarget& target, std::string& out)
    : password_(target.password) {
  if (!target.user.empty()) {
    append_command(out, {"AUTH", target.user, target.password});
    expect(Step::authenticate);
  } else if (!target.password.empty()) {
    append_command(out, {"AUTH", target.password});
    expect(Step::authenticate);
  }
  if (target.db != 0) {
    append_command(out, {"SELECT", std::to_string(target.db)});
    expect(Step::select);
  }
  append_command(out, {"CLIENT", "ID"});
  expect(Step::client_id);
  append_command(out, {"INFO", "server"});
  expect(Step::info);
  append_command(out, {"CLIENT", "SETNAME", "redlock"});
  expect(Step::ignored);
  for (const scripts::Script& script : scripts::all_scripts) {
    // A server that refuses will answer NOSCRIPT later, and is then sent the text.
    append_command(out, {"SCRIPT", "LOAD", script.text});
    expect(Step::ignored);
  }
}

void Handshake::expect(Step step) { steps_.at(expected_++) = step; }

Handshake::Progress Handshake::take(const Value& answer) {
  const Step step = steps_.at(taken_);
  const bool is_error = answer.type == Value::Type::error;
  switch (step) {
    case Step::authenticate:
    case Step::select:
      if (is_error) return refuse(step, answer);
      if (answer.type != Value::Type::status) return malformed(step);
      return advance();
    case Step::client_id:
      if (is_error) return refuse(step, answer);
      if (answer.type != Value::Type::integer || answer.integer <= 0) return malformed(step);
      identity_.connection_id = answer.integer;
      return advance();
    case Step::info:
      if (is_error) return refuse(step, answer);
      if (answer.type != Value::Type::bulk) return malformed(step);
      return take_info(answer.text);
    case Step::ignored:
      return advance();
  }
  return malformed(step);
}

Handshake::Progress Handshake::advance() noexcept {
  ++taken_;
  return taken_ == expected_ ? Progress::done : Progress::more;
}

Handshake::Progress Handshake::take_info(const std::string& text) {
  constexpr std::size_t longest_field = 64;
  identity_.run_id = visible(field_of(text, "run_id:"), longest_field);
  identity_.version = visible(field_of(text, "redis_version:"), longest_field);
  if (identity_.run_id.empty() || identity_.version.empty()) {
    why_ = "INFO server: no run_id or no redis_version in it";
    return Progress::refused;
  }
  identity_.set_form = set_form_of(identity_.version);
  return advance();
}

Handshake::Progress Handshake::refuse(Step step, const Value& error) {
  switch (step) {
    case Step::authenticate:
      why_ = "AUTH: ";
      break;
    case Step::select:
      why_ = "SELECT: ";
      break;
    case Step::client_id:
      why_ = "CLIENT ID: ";
      break;
    case Step::info:
    case Step::ignored:
      why_ = "INFO server: ";
      break;
  }
  why_ += without_secrets(error.text, password_);
  return Progress::refused;
}

Handshake::Progress Handshake::malformed(Step step) {
  switch (step) {
    case Step::authenticate:
    case Step::select:
      why_ = "AUTH or SELECT was not answered with a status";
      break;
    case Step::client_id:
      why_ = "CLIENT ID was not answered with a number";
      break;
    case Step::info:
    case Step::ignored:
      why_ = "INFO was not answered with a text";
      break;
  }
  return Progress::malformed;
}

}  // namespace redlock::redis
