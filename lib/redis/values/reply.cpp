#include "redis/values/reply.hpp"

#include <hiredis/hiredis.h>

#include <algorithm>
#include <charconv>
#include <new>

#include "redis/values/resp3.hpp"
#include "redis/values/short_reply.hpp"
#include "redis/values/visible.hpp"
#include "redlock/limits.hpp"

namespace redlock::redis {
namespace {

// Every limit is far above the answers to the commands that we send.
constexpr std::size_t elements_per_array = 64;
constexpr std::size_t values_per_reply = 256;
constexpr std::size_t array_depth = 4;
// Status, error, number and length lines. hiredis searches an unfinished line from its start
// whenever bytes arrive, so a long line costs the square of its length.
constexpr std::size_t line_bytes = 16 * 1024;
// A value that once held an INFO keeps its memory; a value that held a megabyte does not.
constexpr std::size_t kept_capacity = 8 * 1024;
// libuv reads 64 KiB at most at a time and hiredis reserves twice as much: below that, its buffer
// would be freed and allocated again with every large read.
constexpr std::size_t kept_buffer = 256 * 1024;
constexpr std::string_view line_end = "\r\n";

/// hiredis 0.14 counts elements in int, 1.x in size_t.
template <typename Function>
struct CountOf;
template <typename Count>
struct CountOf<void* (*)(const redisReadTask*, Count)> {
  using type = Count;
};
using ElementCount = CountOf<decltype(redisReplyObjectFunctions::createArray)>::type;

}  // namespace

/// The functions that hiredis calls. Each returns null and sets `refusal_` if it does not accept a
/// value; hiredis then stops.
struct ReplyReader::Builder {
  static ReplyReader& reader_of(const redisReadTask* task) noexcept {
    return *static_cast<ReplyReader*>(task->privdata);
  }

  static Value* refuse(ReplyReader& reader, const char* why) noexcept {
    reader.refusal_ = why;
    return nullptr;
  }

  static Value* take(const redisReadTask* task, Value::Type type) noexcept {
    ReplyReader& reader = reader_of(task);
    if (++reader.values_in_reply_ > values_per_reply) {
      return refuse(reader, "a reply of too many values");
    }
    Value& value = reader.take(type);
    if (task->parent != nullptr) static_cast<Value*>(task->parent->obj)->elements.push_back(&value);
    return &value;
  }

  static void* create_string(const redisReadTask* task, char* start, std::size_t size) noexcept {
    ReplyReader& reader = reader_of(task);
    // hiredis has the two bytes after every line and bulk in its buffer, but skips them unseen.
    if (std::string_view(start + size, line_end.size()) != line_end) {
      return refuse(reader, "a bulk whose length is wrong");
    }
    reader.bytes_in_reply_ += size;
    if (reader.bytes_in_reply_ > limits::reply_bytes) return refuse(reader, "a reply too large");
    const std::string_view text(start, size);
    Value* value = nullptr;
    switch (task->type) {
      case REDIS_REPLY_STRING:
        value = take(task, Value::Type::bulk);
        if (value != nullptr) value->text.assign(text);
        return value;
      case REDIS_REPLY_STATUS:
        value = take(task, Value::Type::status);
        if (value != nullptr) value->text.assign(text);
        return value;
      case REDIS_REPLY_ERROR:
        value = take(task, Value::Type::error);
        if (value != nullptr) append_visible(value->text, text, message_bytes);
        return value;
      default:
        return refuse_resp3(task);
    }
  }

  static void* create_array(const redisReadTask* task, ElementCount count) noexcept {
    if (task->type != REDIS_REPLY_ARRAY) return refuse_resp3(task);
    std::size_t depth = 1;
    for (const redisReadTask* outer = task->parent; outer != nullptr; outer = outer->parent)
      ++depth;
    if (depth > array_depth) return refuse(reader_of(task), "arrays nested too deeply");
    if (static_cast<std::size_t>(count) > elements_per_array) {
      return refuse(reader_of(task), "an array of too many elements");
    }
    return take(task, Value::Type::array);
  }

  static void* create_integer(const redisReadTask* task, long long number) noexcept {
    if (task->type != REDIS_REPLY_INTEGER) return refuse_resp3(task);
    Value* value = take(task, Value::Type::integer);
    if (value != nullptr) value->integer = number;
    return value;
  }

  static void* create_nil(const redisReadTask* task) noexcept {
    // A null bulk and a null array come here under the type that was announced, RESP3's own null
    // under REDIS_REPLY_NIL.
    if (task->type == REDIS_REPLY_NIL) return refuse_resp3(task);
    return take(task, Value::Type::nil);
  }

  static void* refuse_resp3(const redisReadTask* task) noexcept {
    return refuse(reader_of(task), "a RESP3 type, which was not asked for");
  }

#ifdef REDIS_REPLY_DOUBLE  // hiredis 1.x, which makes up a pointer if there is no function
  static void* create_double(const redisReadTask* task, double /*number*/, char* /*text*/,
                             std::size_t /*size*/) noexcept {
    return refuse_resp3(task);
  }
  static void* create_bool(const redisReadTask* task, int /*truth*/) noexcept {
    return refuse_resp3(task);
  }
#endif

  static void free_object(void* /*value*/) noexcept {}  // the pool owns them

  static redisReplyObjectFunctions* functions() noexcept {
    static redisReplyObjectFunctions table = [] {
      redisReplyObjectFunctions all{};
      all.createString = create_string;
      all.createArray = create_array;
      all.createInteger = create_integer;
      all.createNil = create_nil;
#ifdef REDIS_REPLY_DOUBLE
      all.createDouble = create_double;
      all.createBool = create_bool;
#endif
      all.freeObject = free_object;
      return all;
    }();
    return &table;
  }
};

void ReplyReader::FreeReader::operator()(redisReader* reader) const noexcept {
  redisReaderFree(reader);
}

ReplyReader::ReplyReader(Protocol protocol)
    : protocol_(protocol), reader_(redisReaderCreateWithFunctions(Builder::functions())) {
  if (!reader_) throw std::bad_alloc();
  reader_->privdata = this;
  reader_->maxbuf = kept_buffer;
}

ReplyReader::~ReplyReader() = default;

void ReplyReader::feed(std::string_view bytes) {
  if (!malformed_.empty() || bytes.empty()) return;
  // hiredis has begun this reply and also reads its end.
  if (partial_) return leave_to_hiredis(bytes);
  input_.append(bytes);
}

void ReplyReader::leave_to_hiredis(std::string_view bytes) {
  partial_ = true;
  if (redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK) {
    malformed_ = "no memory for the reply";
  }
}

Value& ReplyReader::take(Value::Type type) {
  if (used_ == pool_.size()) pool_.push_back(std::make_unique<Value>());
  Value& value = *pool_[used_++];
  value.type = type;
  value.integer = 0;
  value.text.clear();
  value.elements.clear();
  return value;
}

/// Takes nothing if the next value is not short, or not complete.
const Value* ReplyReader::next_short() {
  const std::string_view rest = unread();
  const std::size_t used = used_;
  Value& value = take(Value::Type::nil);
  std::size_t size = read_short_value(rest, value, protocol_);
  if (const std::size_t elements = size == 0 ? read_short_array(rest) : 0; elements > 0) {
    size = short_array_header;
    value.type = Value::Type::array;
    while (value.elements.size() < elements) {
      Value& element = take(Value::Type::nil);
      const std::size_t more = read_short_value(rest.substr(size), element, protocol_);
      size = more == 0 ? 0 : size + more;
      if (size == 0) break;
      value.elements.push_back(&element);
    }
  }
  if (size == 0) {
    used_ = used;
    return nullptr;
  }
  drop(size);
  return &value;
}

bool ReplyReader::skip_time(std::chrono::microseconds& time) noexcept {
  if (partial_ || !malformed_.empty()) return false;
  const std::size_t size = read_time(unread(), time);
  if (size > 0) drop(size);
  return size > 0;
}

void ReplyReader::forget_input() noexcept {
  input_.clear();
  if (input_.capacity() > kept_buffer) input_ = std::string();
  read_ = 0;
}

/// hiredis is given complete values only, in RESP2.
const Value* ReplyReader::next_translated() {
  translated_.clear();
  const Resp3 found = translate_resp3(unread(), translated_);
  switch (found.kind) {
    case Resp3::Kind::incomplete:
      input_.erase(0, read_);
      read_ = 0;
      if (input_.size() > limits::reply_bytes + line_bytes) malformed_ = "a reply too large";
      return nullptr;
    case Resp3::Kind::malformed:
      malformed_ = found.why;
      return nullptr;
    case Resp3::Kind::reply:
    case Resp3::Kind::push:
      break;
  }
  drop(found.size);
  leave_to_hiredis(translated_);
  if (translated_.capacity() > kept_buffer) translated_ = std::string();
  if (!malformed_.empty()) return nullptr;
  // The first value that a reply takes from the pool contains the others.
  const std::size_t outermost = used_;
  const Value* const value = next_of_hiredis();
  if (value == nullptr) {
    if (malformed_.empty()) malformed_ = "a reply that cannot be read";
    return nullptr;
  }
  if (found.kind == Resp3::Kind::push) pool_[outermost]->type = Value::Type::push;
  return value;
}

const Value* ReplyReader::next() {
  if (!malformed_.empty()) return nullptr;
  if (!input_.empty()) {
    if (const Value* value = next_short()) return value;
    if (protocol_ == Protocol::resp3) return next_translated();
    leave_to_hiredis(unread());
    forget_input();
    if (!malformed_.empty()) return nullptr;
  }
  return partial_ ? next_of_hiredis() : nullptr;
}

const Value* ReplyReader::next_of_hiredis() {
  void* value = nullptr;
  if (redisReaderGetReply(reader_.get(), &value) != REDIS_OK) {
    malformed_ = visible(refusal_ != nullptr ? refusal_ : reader_->errstr);
    return nullptr;
  }
  if (value == nullptr) {
    refuse_what_can_not_end();
    return nullptr;
  }
  values_in_reply_ = 0;
  bytes_in_reply_ = 0;
  partial_ = !waiting().empty();
  return static_cast<const Value*>(value);
}

std::string_view ReplyReader::waiting() const noexcept {
  if (reader_->buf == nullptr) return {};
  return {reader_->buf + reader_->pos, reader_->len - reader_->pos};
}

bool ReplyReader::in_the_middle() const noexcept {
  if (input_.empty()) return partial_;
  return protocol_ == Protocol::resp2 || input_[read_] != '>';
}

void ReplyReader::refuse_what_can_not_end() {
  const std::string_view rest = waiting();
  if (rest.empty()) return;
  const std::size_t end = rest.substr(0, line_bytes).find(line_end);
  if (end == std::string_view::npos) {
    if (rest.size() >= line_bytes) malformed_ = "a line without an end";
    return;
  }
  // A complete line that hiredis did not consume is the length of a bulk that is still to arrive.
  // An oversized bulk is refused now, not after a megabyte of it.
  std::uint64_t size = 0;
  const auto [stop, error] = std::from_chars(rest.data(), rest.data() + end, size);
  const bool is_length = error == std::errc{} && stop == rest.data() + end;
  if ((is_length && size > limits::reply_bytes) || rest.size() > limits::reply_bytes + line_bytes) {
    malformed_ = "a reply too large";
  }
}

void ReplyReader::recycle() noexcept {
  for (std::size_t index = 0; index < used_; ++index) {
    Value& value = *pool_[index];
    if (value.text.capacity() > kept_capacity) value.text = std::string();
  }
  used_ = 0;
}

}  // namespace redlock::redis
