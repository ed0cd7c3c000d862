#include "redis/values/hash_tag.hpp"

#include <openssl/evp.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <new>

#include "redis/scripts_embedded.hpp"
#include "redis/values/keys.hpp"
#include "redis/values/words.hpp"
#include "support/assert.hpp"

namespace redlock::redis {
namespace {

/// CRC-16/XMODEM, which decides the slot: the specification of Redis Cluster.
[[nodiscard]] std::uint16_t crc16(std::string_view text) noexcept {
  constexpr unsigned polynomial = 0x1021;
  constexpr unsigned highest_bit = 0x8000;
  unsigned crc = 0;
  for (const char c : text) {
    crc ^= static_cast<unsigned>(static_cast<unsigned char>(c)) << 8U;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & highest_bit) != 0 ? (crc << 1U) ^ polynomial : crc << 1U;
    }
  }
  return static_cast<std::uint16_t>(crc);
}

[[nodiscard]] std::string sha1_of(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes;
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), bytes.data(), &size, EVP_sha1(), nullptr) != 1) {
    throw std::bad_alloc();  // it fails in no other way
  }
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (unsigned i = 0; i < size; ++i) {
    out += {digits[bytes[i] >> 4U], digits[bytes[i] & 0x0fU]};
  }
  return out;
}

/// The number in "*3\r\n" or "$12\r\n", which is taken away.
[[nodiscard]] std::size_t take_size(std::string_view& bytes) {
  std::size_t size = 0;
  const char* const end = bytes.data() + bytes.size();
  const char* const after = std::from_chars(bytes.data() + 1, end, size).ptr;
  bytes.remove_prefix(static_cast<std::size_t>(after - bytes.data()) + end_of_line.size());
  return size;
}

}  // namespace

std::string_view hash_tag_of(std::string_view prefix) noexcept {
  const std::size_t end = prefix.find('}');
  const bool has_tag = prefix.starts_with('{') && end != std::string_view::npos && end > 1;
  return has_tag ? prefix.substr(0, end + 1) : std::string_view();
}

HashTag::HashTag(std::string_view tag)
    : tag_(tag),
      own_prefix_(std::string(keys::node_prefix) + tag_ + ':'),
      queue_prefix_(tagged(keys::queue_prefix)),
      slot_(crc16(tag.substr(1, tag.size() - 2)) % 16384) {
  REDLOCK_ASSERT(hash_tag_of(tag) == tag);
  for (const scripts::Script& script : scripts::all_scripts) {
    const std::string text = tagged(script.text);
    script_words_.emplace(script.sha1, sha1_of(text));
    script_words_.emplace(script.text, text);
  }
}

std::string HashTag::tagged(std::string_view text) const {
  std::string out;
  for (std::size_t at = text.find(keys::node_prefix); at != std::string_view::npos;
       at = text.find(keys::node_prefix)) {
    out.append(text.substr(0, at)).append(own_prefix_);
    text.remove_prefix(at + keys::node_prefix.size());
  }
  return out.append(text);
}

void HashTag::append(std::string& out, std::string_view commands) const {
  while (!commands.empty()) {
    const std::size_t words = take_size(commands);
    append_size(out, '*', words);
    for (std::size_t i = 0; i < words; ++i) {
      const std::size_t size = take_size(commands);
      const std::string_view word = commands.substr(0, size);
      commands.remove_prefix(size + end_of_line.size());
      const bool own = word.starts_with(keys::node_prefix);
      // EVAL script …, SCRIPT LOAD script
      const auto script = i == 1 || i == 2 ? script_words_.find(word) : script_words_.end();
      if (script != script_words_.end()) {
        append_word(out, script->second);
      } else {
        append_word(out, own ? own_prefix_ + std::string(word.substr(keys::node_prefix.size()))
                             : std::string(word));
      }
    }
  }
}

}  // namespace redlock::redis
