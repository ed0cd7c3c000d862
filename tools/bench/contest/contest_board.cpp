#include "bench/contest/contest_board.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "common/system/descriptor.hpp"

namespace redlock::bench {

ContestBoard ContestBoard::create(const std::string& path, std::size_t records) {
  return {path, O_CREAT | O_EXCL, records};
}

ContestBoard ContestBoard::open(const std::string& path, std::size_t records) {
  return {path, 0, records};
}

// The file is full of zeros at first, and so are the counters: nothing has to be constructed.
ContestBoard::ContestBoard(const std::string& path, int flags, std::size_t records)
    : room_(records), data_(MAP_FAILED) {
  const cli::Descriptor file(::open(path.c_str(), flags | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (file.valid() && ::ftruncate(file.get(), static_cast<off_t>(size())) == 0) {
    data_ = ::mmap(nullptr, size(), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  }
  if (data_ == MAP_FAILED) {
    throw std::runtime_error("bench: " + path + ": " + std::strerror(errno));
  }
}

ContestBoard::ContestBoard(ContestBoard&& other) noexcept
    : room_(other.room_), data_(std::exchange(other.data_, MAP_FAILED)) {}

ContestBoard::~ContestBoard() {
  if (data_ != MAP_FAILED) static_cast<void>(::munmap(data_, size()));
}

void ContestBoard::add(const ContestRecord& record) const noexcept {
  const std::uint64_t at = head().records.fetch_add(1);
  if (at >= room_) return;
  std::memcpy(reinterpret_cast<char*>(&head() + 1) + at * sizeof record, &record, sizeof record);
}

std::vector<ContestRecord> ContestBoard::records() const {
  std::vector<ContestRecord> all(std::min<std::uint64_t>(head().records, room_));
  std::memcpy(static_cast<void*>(all.data()), &head() + 1, all.size() * sizeof(ContestRecord));
  return all;
}

}  // namespace redlock::bench
