#include "support/resp.hpp"

#include <charconv>
#include <ostream>
#include <stdexcept>

namespace redlock::test {
namespace {

constexpr int deepest_nesting = 32;
constexpr std::string_view line_end = "\r\n";

std::string line(char type, std::string_view text) {
  return std::string(1, type).append(text).append(line_end);
}

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  const auto* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) {
    throw std::runtime_error("not a RESP number: " + std::string(text));
  }
  return value;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Reply& reply) {
  switch (reply.kind) {
    case Reply::Kind::nil:
      return out << "nil";
    case Reply::Kind::status:
      return out << '+' << reply.string;
    case Reply::Kind::error:
      return out << '-' << reply.string;
    case Reply::Kind::integer:
      return out << ':' << reply.integer;
    case Reply::Kind::string:
      return out << '"' << reply.string << '"';
    case Reply::Kind::array:
      break;
  }
  out << '[';
  const char* separator = "";
  for (const auto& element : reply.elements) {
    out << separator << element;
    separator = ", ";
  }
  return out << ']';
}

namespace resp {

std::string status(std::string_view text) { return line('+', text); }
std::string error(std::string_view text) { return line('-', text); }
std::string integer(std::int64_t value) { return line(':', std::to_string(value)); }
std::string nil() { return line('$', "-1"); }

std::string bulk(std::string_view text) {
  return line('$', std::to_string(text.size())).append(text).append(line_end);
}

std::string array(const std::vector<std::string>& elements) {
  std::string result = line('*', std::to_string(elements.size()));
  for (const auto& element : elements) result += element;
  return result;
}

std::string command(const Command& words) {
  std::string result = line('*', std::to_string(words.size()));
  for (const auto& word : words) result += bulk(word);
  return result;
}

}  // namespace resp

std::optional<Reply> RespParser::next() {
  std::size_t position = 0;
  auto reply = parse(position, 0);
  if (reply) buffer_.erase(0, position);
  return reply;
}

std::optional<std::string_view> RespParser::line(std::size_t& position) const {
  const auto end = buffer_.find(line_end, position);
  if (end == std::string::npos) return std::nullopt;
  const auto text = std::string_view(buffer_).substr(position, end - position);
  position = end + line_end.size();
  return text;
}

std::optional<Reply> RespParser::parse(std::size_t& position, int depth) const {
  if (depth > deepest_nesting) throw std::runtime_error("RESP nested too deeply");
  const auto text = line(position);
  if (!text) return std::nullopt;
  if (text->empty()) throw std::runtime_error("empty RESP line");
  const auto rest = text->substr(1);
  switch (text->front()) {
    case '+':
      return Reply{.kind = Reply::Kind::status, .string = std::string(rest)};
    case '-':
      return Reply{.kind = Reply::Kind::error, .string = std::string(rest)};
    case ':':
      return Reply{.kind = Reply::Kind::integer, .integer = number(rest)};
    case '$': {
      const auto length = number(rest);
      if (length < 0) return Reply{};
      const auto size = static_cast<std::size_t>(length);
      if (buffer_.size() < position + size + 2) return std::nullopt;
      Reply reply{.kind = Reply::Kind::string, .string = buffer_.substr(position, size)};
      position += size + 2;
      return reply;
    }
    case '*': {
      const auto count = number(rest);
      if (count < 0) return Reply{};
      Reply reply{.kind = Reply::Kind::array};
      for (std::int64_t i = 0; i < count; ++i) {
        auto element = parse(position, depth + 1);
        if (!element) return std::nullopt;
        reply.elements.push_back(std::move(*element));
      }
      return reply;
    }
    default:
      throw std::runtime_error("not RESP2: " + std::string(*text));
  }
}

}  // namespace redlock::test
