#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "uv/tls_context.hpp"

namespace redlock::uv {

/// The TLS context for the next connection. Certificates are renewed under programs that run for
/// months: the files are read again when they have changed. While they cannot be read, or do not
/// match each other, the former context stays in use.
///
/// Belongs to one thread at a time, that of the loop.
class TlsStore {
  struct Key {};

 public:
  /// The store, or one line that says which file is at fault and why.
  using Result = std::variant<std::shared_ptr<TlsStore>, std::string>;
  [[nodiscard]] static Result create(const TlsFiles& files);

  /// Looks at the files, which takes no longer than a few system calls unless they have changed.
  [[nodiscard]] std::shared_ptr<const TlsContext> current();

  /// Why the changed files cannot be used; each problem is returned once. Empty: nothing new.
  [[nodiscard]] std::string take_warning() { return std::exchange(warning_, {}); }

  /// The properties of a file that are compared; zeros if it cannot be read.
  struct Stamp {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  using Stamps = std::array<Stamp, 3>;

  TlsStore(Key, TlsFiles files, const Stamps& stamps, std::shared_ptr<const TlsContext> context)
      : files_(std::move(files)), stamps_(stamps), context_(std::move(context)) {}

 private:
  TlsFiles files_;
  Stamps stamps_;  // the stamps of the files that the context was made from
  std::shared_ptr<const TlsContext> context_;
  std::string problem_;  // the last problem that was reported
  std::string warning_;
};

}  // namespace redlock::uv
