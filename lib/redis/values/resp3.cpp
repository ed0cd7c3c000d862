#include "redis/values/resp3.hpp"

#include <charconv>
#include <optional>

#include "redlock/limits.hpp"

namespace redlock::redis {
namespace {

// Every limit is far above the answers to the commands that we send.
constexpr std::size_t longest_line = 16 * 1024;
constexpr std::int64_t most_elements = 4096;
constexpr std::size_t most_values = 4096;
constexpr std::size_t deepest = 8;
constexpr std::string_view line_ending = "\r\n";
constexpr std::string_view types = "+-:_#,($=!|>*~%";

/// Reads one value twice: once to check that it is complete, once to write it.
class Translation {
 public:
  Translation(std::string_view bytes, std::string* out) noexcept : bytes_(bytes), out_(out) {}

  Resp3 run() {
    if (!take_value(0)) return stopped_;
    return {push_ ? Resp3::Kind::push : Resp3::Kind::reply, at_};
  }

 private:
  bool take_value(std::size_t depth) {
    if (++values_ > most_values) return refuse("a reply of too many values");
    if (depth > deepest) return refuse("arrays nested too deeply");
    if (at_ == bytes_.size()) return stop(Resp3::Kind::incomplete, nullptr);
    const char type = bytes_[at_];
    if (types.find(type) == std::string_view::npos) return refuse("no type of a value");
    const std::optional<std::string_view> line = take_line();
    if (!line) return false;
    switch (type) {
      case '+':
      case '-':
      case ':':
        write(std::string_view(&type, 1), *line, line_ending);
        return true;
      case '_':
        if (!line->empty()) return refuse("a null that is something");
        write("$-1", line_ending);
        return true;
      case '#':
        if (*line != "t" && *line != "f") return refuse("a truth that is neither");
        write(*line == "t" ? ":1" : ":0", line_ending);
        return true;
      case ',':
      case '(':
        write_bulk(*line);
        return true;
      case '$':
      case '=':
      case '!':
        return take_bulk(type, *line);
      case '|':
        return skip_attributes(depth, *line) && take_value(depth);
      case '>':
        if (depth > 0) return refuse("a push inside of a reply");
        push_ = true;
        return take_array(depth, *line, 1);
      case '*':
      case '~':
        return take_array(depth, *line, 1);
      case '%':
        return take_array(depth, *line, 2);
      default:
        return refuse("no type of a value");
    }
  }

  bool take_bulk(char type, std::string_view line) {
    constexpr std::size_t kind_of_text = 4;  // "txt:"
    const std::optional<std::int64_t> length = number(line);
    if (type == '$' && length == -1) {
      write("$-1", line_ending);
      return true;
    }
    if (!length || *length < 0) return refuse("a length that is none");
    const auto size = static_cast<std::size_t>(*length);
    if (size > limits::reply_bytes) return refuse("a reply too large");
    if (bytes_.size() - at_ < size + line_ending.size()) {
      return stop(Resp3::Kind::incomplete, nullptr);
    }
    std::string_view text = bytes_.substr(at_, size);
    at_ += size;
    if (!bytes_.substr(at_).starts_with(line_ending)) return refuse("a bulk whose length is wrong");
    at_ += line_ending.size();
    if (type == '!') {
      write_error(text);
      return true;
    }
    if (type == '=') {
      if (size < kind_of_text) return refuse("a text without its kind");
      text.remove_prefix(kind_of_text);
    }
    write_bulk(text);
    return true;
  }

  bool take_array(std::size_t depth, std::string_view line, std::int64_t values_each) {
    const std::optional<std::int64_t> count = number(line);
    if (count == -1 && values_each == 1) {
      write("*-1", line_ending);
      return true;
    }
    if (!count || *count < 0) return refuse("a length that is none");
    if (*count > most_elements) return refuse("an array of too many elements");
    const std::int64_t elements = *count * values_each;
    std::string* const out = out_;
    if (in_map_) {
      write("*0", line_ending);
      out_ = nullptr;
    } else {
      write("*", std::to_string(elements), line_ending);
    }
    const bool outer = in_map_;
    in_map_ = in_map_ || values_each == 2;
    const bool taken = take_values(depth, elements);
    in_map_ = outer;
    out_ = out;
    return taken;
  }

  bool skip_attributes(std::size_t depth, std::string_view line) {
    const std::optional<std::int64_t> count = number(line);
    if (!count || *count < 0) return refuse("a length that is none");
    if (*count > most_elements) return refuse("an array of too many elements");
    std::string* const out = out_;
    out_ = nullptr;
    const bool taken = take_values(depth, *count * 2);
    out_ = out;
    return taken;
  }

  bool take_values(std::size_t depth, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (!take_value(depth + 1)) return false;
    }
    return true;
  }

  /// The rest of the line after the type.
  std::optional<std::string_view> take_line() {
    const std::string_view rest = bytes_.substr(at_ + 1);
    const std::size_t end = rest.substr(0, longest_line).find(line_ending);
    if (end == std::string_view::npos) {
      if (rest.size() >= longest_line) {
        refuse("a line without an end");
      } else {
        stop(Resp3::Kind::incomplete, nullptr);
      }
      return std::nullopt;
    }
    at_ += 1 + end + line_ending.size();
    return rest.substr(0, end);
  }

  static std::optional<std::int64_t> number(std::string_view line) noexcept {
    std::int64_t value = 0;
    const char* const end = line.data() + line.size();
    const auto parsed = std::from_chars(line.data(), end, value);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
    return value;
  }

  template <typename... Parts>
  void write(const Parts&... parts) {
    if (out_ != nullptr) (out_->append(parts), ...);
  }
  void write_bulk(std::string_view text) {
    write("$", std::to_string(text.size()), line_ending, text, line_ending);
  }
  /// Writes an error of one line, cut to the longest line.
  void write_error(std::string_view text) {
    if (out_ == nullptr) return;
    out_->append("-");
    for (const char c : text.substr(0, longest_line / 2)) {
      out_->push_back(c == '\r' || c == '\n' ? ' ' : c);
    }
    out_->append(line_ending);
  }

  bool stop(Resp3::Kind kind, const char* why) noexcept {
    stopped_ = {kind, 0, why};
    return false;
  }
  bool refuse(const char* why) noexcept { return stop(Resp3::Kind::malformed, why); }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::string* out_;
  std::size_t values_ = 0;
  bool in_map_ = false;
  bool push_ = false;
  Resp3 stopped_;
};

}  // namespace

Resp3 translate_resp3(std::string_view bytes, std::string& out) {
  const Resp3 found = Translation(bytes, nullptr).run();
  const bool complete = found.kind == Resp3::Kind::reply || found.kind == Resp3::Kind::push;
  return complete ? Translation(bytes, &out).run() : found;
}

}  // namespace redlock::redis
