#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace redlock::redis {

/// The hash tag that a prefix begins with, with its braces: "{locks}" of "{locks}:"; empty: none.
[[nodiscard]] std::string_view hash_tag_of(std::string_view prefix) noexcept;

/// At a service that is a cluster, all keys of a client have one hash tag, so that they are in one
/// slot, which has one primary. The resources have the tag through the client's prefix. The node's
/// own keys get it here: `redlock:node:` becomes `redlock:node:{tag}:` in each word that begins
/// with it, and in the texts of scripts, which name some keys themselves.
class HashTag {
 public:
  /// `tag` with its braces.
  explicit HashTag(std::string_view tag);

  [[nodiscard]] const std::string& tag() const noexcept { return tag_; }
  /// The slot of all keys with this tag.
  [[nodiscard]] std::uint16_t slot() const noexcept { return slot_; }

  /// Appends whole commands in Redis' wire format, with the tag.
  void append(std::string& out, std::string_view commands) const;
  /// keys::queue_prefix with the tag.
  [[nodiscard]] const std::string& queue_prefix() const noexcept { return queue_prefix_; }

 private:
  [[nodiscard]] std::string tagged(std::string_view text) const;

  std::string tag_;
  std::string own_prefix_;
  std::string queue_prefix_;
  std::uint16_t slot_;
  std::unordered_map<std::string_view, std::string> script_words_;  // texts and digests
};

}  // namespace redlock::redis
