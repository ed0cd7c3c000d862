#include "bench/handoff_board.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "bench/floor_link.hpp"

namespace redlock::bench {
namespace {

std::runtime_error board_error(const std::string& path) {
  return std::runtime_error("--mode handoff: " + path + ": " + std::strerror(errno));
}

}  // namespace

// A new file is full of zeros, and so are the counters in it: nothing has to be constructed.
HandoffBoard HandoffBoard::create(const std::string& path, std::size_t contenders,
                                  std::size_t records) {
  const FileDescriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.valid() ||
      ::ftruncate(file.get(), static_cast<off_t>(size_of(contenders, records))) != 0) {
    throw board_error(path);
  }
  return {file.get(), contenders, records};
}

HandoffBoard HandoffBoard::open(const std::string& path, std::size_t contenders,
                                std::size_t records) {
  const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.valid()) throw board_error(path);
  return {file.get(), contenders, records};
}

HandoffBoard::HandoffBoard(int fd, std::size_t contenders, std::size_t records)
    : contenders_(contenders),
      capacity_(records),
      memory_(::mmap(nullptr, size_of(contenders, records), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                     0)) {
  if (memory_ == MAP_FAILED) throw board_error("mmap");
}

HandoffBoard::HandoffBoard(HandoffBoard&& other) noexcept
    : contenders_(other.contenders_),
      capacity_(other.capacity_),
      memory_(std::exchange(other.memory_, MAP_FAILED)) {}

HandoffBoard::~HandoffBoard() {
  if (memory_ != MAP_FAILED) {
    static_cast<void>(::munmap(memory_, size_of(contenders_, capacity_)));
  }
}

std::size_t HandoffBoard::size_of(std::size_t contenders, std::size_t records) noexcept {
  return sizeof(Head) + contenders * (sizeof(Column) + records * sizeof(HandoffRecord));
}

HandoffBoard::Head& HandoffBoard::head() const noexcept { return *static_cast<Head*>(memory_); }

HandoffBoard::Column& HandoffBoard::column(std::size_t contender) const noexcept {
  char* at = static_cast<char*>(memory_) + sizeof(Head) +
             contender * (sizeof(Column) + capacity_ * sizeof(HandoffRecord));
  return *reinterpret_cast<Column*>(at);
}

void HandoffBoard::add(const HandoffRecord& record) const noexcept {
  Column& own = column(record.contender);
  const std::uint64_t count = own.count.load(std::memory_order_relaxed);
  if (count == capacity_) return;
  std::memcpy(reinterpret_cast<char*>(&own + 1) + count * sizeof record, &record, sizeof record);
  own.count.store(count + 1, std::memory_order_release);
}

std::vector<HandoffRecord> HandoffBoard::records() const {
  std::vector<HandoffRecord> all;
  for (std::size_t contender = 0; contender < contenders_; ++contender) {
    Column& own = column(contender);
    const std::uint64_t count = own.count.load(std::memory_order_acquire);
    const std::size_t before = all.size();
    all.resize(before + count);
    std::memcpy(static_cast<void*>(all.data() + before), &own + 1, count * sizeof(HandoffRecord));
  }
  return all;
}

}  // namespace redlock::bench
