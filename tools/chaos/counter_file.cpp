#include "chaos/counter_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string>
#include <system_error>

namespace redlock::chaos {
namespace {

// Of fixed width, so that one write() replaces all of it.
constexpr std::size_t digits = 20;
constexpr std::size_t content_size = 2 * digits + 2;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// The file is one for several processes.
class Locked {
 public:
  explicit Locked(int file) : file_(file) {
    while (::flock(file_, LOCK_EX) != 0) {
      if (errno != EINTR) fail("flock");
    }
  }
  ~Locked() { static_cast<void>(::flock(file_, LOCK_UN)); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  int file_;
};

}  // namespace

CounterFile::CounterFile(const std::filesystem::path& file)
    : file_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  if (!file_.valid()) fail("the counter file cannot be opened");
}

std::optional<std::uint64_t> CounterFile::read(std::uint64_t token) {
  const Locked locked(file_.get());
  Content content = load();
  if (content.token > token) return std::nullopt;
  content.token = token;
  store(content);
  return content.value;
}

CounterFile::Written CounterFile::write(std::uint64_t from, std::uint64_t to, std::uint64_t token) {
  const Locked locked(file_.get());
  const Content content = load();
  if (content.token > token || content.value != from) return Written::refused;
  store({to, token});
  return Written::yes;
}

CounterFile::Content CounterFile::load() const {
  std::array<char, content_size> text{};
  const ssize_t count = ::pread(file_.get(), text.data(), text.size(), 0);
  if (count < 0) fail("the counter file cannot be read");
  Content content;
  if (static_cast<std::size_t>(count) < text.size()) return content;
  std::from_chars(text.data(), text.data() + digits, content.value);
  std::from_chars(text.data() + digits + 1, text.data() + 2 * digits + 1, content.token);
  return content;
}

void CounterFile::store(Content content) const {
  const std::string text = fmt::format("{:020} {:020}\n", content.value, content.token);
  if (::pwrite(file_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    fail("the counter file cannot be written");
  }
}

}  // namespace redlock::chaos
