#include "redis/requests/writer.hpp"

#include <hiredis/hiredis.h>

#include <chrono>
#include <memory>
#include <new>

#include "redis/values/keys.hpp"
#include "redlock/limits.hpp"

namespace redlock::redis {
namespace {

struct FreeCommand {
  void operator()(char* command) const noexcept { redisFreeCommand(command); }
};

[[nodiscard]] bool is_same(std::string_view word, std::string_view known) noexcept {
  return word.data() == known.data() && word.size() == known.size() && !word.empty();
}

[[nodiscard]] std::size_t decimal_digits(std::size_t number) noexcept {
  std::size_t digits = 1;
  while (number >= 10) {
    number /= 10;
    ++digits;
  }
  return digits;
}

}  // namespace

Decimal milliseconds_of(core::Duration duration) noexcept {
  return Decimal(std::chrono::floor<std::chrono::milliseconds>(duration).count());
}

Decimal milliseconds_rounded_up(core::Duration duration) noexcept {
  return Decimal(std::chrono::ceil<std::chrono::milliseconds>(duration).count());
}

void append_command(std::string& out, std::span<const std::string_view> words) {
  constexpr std::size_t most_words = limits::resources + 16;
  std::array<const char*, most_words> starts;
  std::array<std::size_t, most_words> sizes;
  std::size_t count = 0;
  for (const std::string_view word : words) {
    starts.at(count) = word.data();
    sizes.at(count) = word.size();
    ++count;
  }
  char* formatted = nullptr;
  // int in hiredis 0.14, long long from 1.0 on.
  const auto size =
      redisFormatCommandArgv(&formatted, static_cast<int>(count), starts.data(), sizes.data());
  const std::unique_ptr<char, FreeCommand> owner(formatted);
  if (size < 0) throw std::bad_alloc();  // it fails in no other way
  out.append(formatted, static_cast<std::size_t>(size));
}

Writer::Writer(Frame& frame, const core::Terms& terms)
    : frame_(frame),
      terms_(terms),
      number_(static_cast<std::int64_t>(terms.fencing_number)),
      ttl_(milliseconds_of(terms.ttl)),
      reserved_(milliseconds_of(terms.reserved_for)),
      ticket_(terms.ticket.value_or(0)),
      reservation_(milliseconds_of(terms.writer_reservation)) {
  frame.bytes.clear();
  frame.reserved_for.reset();
  frame.resource.clear();
  frame.token.clear();
  frame.number.clear();
}

std::string_view Writer::queue() {
  if (queue_.empty()) queue_.append(keys::queue_prefix).append(terms_.resource);
  return queue_;
}

std::string_view Writer::reserved_for() {
  frame_.reserved_for = terms_.reserved_for;
  return reserved_.view();
}

void Writer::note(std::string_view word, std::size_t at) {
  if (is_same(word, terms_.resource)) return frame_.resource.add(at);
  if (is_same(word, terms_.token)) return frame_.token.add(at);
  if (is_same(word, number_.view())) return frame_.number.add(at);
  if (is_same(word, queue_)) return frame_.resource.add(at + keys::queue_prefix.size());
}

void Writer::command(std::span<const std::string_view> words) {
  constexpr std::size_t line_end_size = 2;
  std::size_t at = frame_.bytes.size() + 1 + decimal_digits(words.size()) + line_end_size;
  append_command(frame_.bytes, words);
  for (const std::string_view word : words) {
    at += 1 + decimal_digits(word.size()) + line_end_size;
    note(word, at);
    at += word.size() + line_end_size;
  }
}

void Writer::script(scripts::Call call) { command(call.words(frame_.script_form)); }

}  // namespace redlock::redis
