#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "core/vocabulary/for_people.hpp"
#include "core/vocabulary/texts.hpp"
#include "redis/values/classify.hpp"
#include "support/resp_client.hpp"
#include "support/sockets.hpp"

namespace redlock::test {

/// An answer, of the server or of the model, in one form.
struct Said {
  core::Reply reply = core::Reply::error;
  std::string holder{};
  std::int64_t number = 0;
  std::optional<std::chrono::milliseconds> remaining{};
  std::uint32_t holds = 0;
  bool has_token = false;
  std::vector<std::string> tokens{};
  std::int64_t ticket = 0;
  bool is_first = false;
  std::size_t waiters = 0;  ///< of an inspection, as is `next`
  std::string next{};
};

[[nodiscard]] inline std::string text_of(const Said& said) {
  std::ostringstream out;
  out << "reply " << static_cast<int>(said.reply) << " holder '" << said.holder << "' number "
      << said.number << " holds " << said.holds << (said.has_token ? " with" : " without");
  if (said.ticket > 0) out << " ticket " << said.ticket << (said.is_first ? ", first" : "");
  if (said.waiters > 0) out << ' ' << said.waiters << " wait";
  if (!said.next.empty()) out << ", next " << said.next;
  if (said.remaining) out << " for " << said.remaining->count() << " ms";
  for (const std::string& token : said.tokens) out << ' ' << token;
  return out.str();
}

/// Whether the answers agree: times and numbers of clocks were read a moment apart.
[[nodiscard]] inline bool same(const Said& real, const Said& model) {
  constexpr auto moment = std::chrono::milliseconds(300);
  const auto near = [](auto a, auto b, auto by) { return a - b <= by && b - a <= by; };
  if (real.reply != model.reply || real.holder != model.holder) return false;
  if (real.holds != model.holds || real.has_token != model.has_token) return false;
  if (real.tokens != model.tokens) return false;
  if (real.waiters != model.waiters || real.next != model.next) return false;
  if (real.ticket != model.ticket || real.is_first != model.is_first) return false;
  if (!near(real.number, model.number, std::chrono::microseconds(moment).count())) return false;
  if (real.remaining.has_value() != model.remaining.has_value()) return false;
  return !real.remaining || near(*real.remaining, *model.remaining, moment);
}

/// Reads a group and its tokens. The model does not list tokens in the order of their ends, so they
/// are sorted.
inline void tell_texts(std::string_view texts, Said& said) {
  said.holder = core::take_text(texts).value_or("none");
  while (const auto token = core::take_text(texts)) said.tokens.emplace_back(*token);
  std::sort(said.tokens.begin(), said.tokens.end());
}

/// One connection, with one request at a time.
class Wire {
 public:
  explicit Wire(const RedisServer& server)
      : socket_(connect_tcp(server.host(), server.port(), std::chrono::seconds(10))) {}

  [[nodiscard]] std::optional<Said> ask(std::string_view bytes, core::Verb verb) {
    EXPECT_EQ(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    std::vector<const redis::Value*> values;
    while (values.size() < redis::values_expected(verb)) {
      if (const redis::Value* value = reader_.next()) {
        values.push_back(value);
        continue;
      }
      pollfd ready{socket_.get(), POLLIN, 0};
      std::array<char, 4096> buffer{};
      if (::poll(&ready, 1, 10'000) != 1) return std::nullopt;
      const auto size = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (size <= 0) return std::nullopt;
      reader_.feed({buffer.data(), static_cast<std::size_t>(size)});
    }
    const auto what = redis::classify(verb, redis::Dialect::with_get, values);
    if (!what) return std::nullopt;
    Said said{what->reply, std::string(what->text), static_cast<std::int64_t>(what->number), {}};
    if (what->holds) {
      said.holds = what->holds->count;
      said.has_token = what->holds->asked_for;
      if (what->reply == core::Reply::found) tell_texts(what->text, said);
    }
    if (const auto people = core::parse_for_people(what->for_people)) {
      said.waiters = people->waiters;
      // The model does not say which comes first of the readers that are let in together.
      if (!what->holds) said.next = people->next;
    }
    said.ticket = what->ticket;
    said.is_first = what->is_first;
    if (what->remaining)
      said.remaining = std::chrono::round<std::chrono::milliseconds>(*what->remaining);
    const bool has_message = said.reply == core::Reply::error ||
                             said.reply == core::Reply::script_missing ||
                             said.reply == core::Reply::script_needed;
    if (has_message) said.holder.clear();
    reader_.recycle();
    return said;
  }

 private:
  Fd socket_;
  redis::ReplyReader reader_;
};

}  // namespace redlock::test
