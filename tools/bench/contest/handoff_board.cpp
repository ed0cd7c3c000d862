#include "bench/contest/handoff_board.hpp"

#include <cstring>
#include <utility>

namespace redlock::bench {

// The counters in new memory are zero: nothing has to be constructed.
HandoffBoard HandoffBoard::create(const std::string& path, std::size_t contenders,
                                  std::size_t records) {
  return {SharedMemory::create(path, size_of(contenders, records)), contenders, records};
}

HandoffBoard HandoffBoard::open(const std::string& path, std::size_t contenders,
                                std::size_t records) {
  return {SharedMemory::open(path, size_of(contenders, records)), contenders, records};
}

HandoffBoard::HandoffBoard(SharedMemory memory, std::size_t contenders,
                           std::size_t records) noexcept
    : contenders_(contenders), capacity_(records), memory_(std::move(memory)) {}

std::size_t HandoffBoard::size_of(std::size_t contenders, std::size_t records) noexcept {
  return sizeof(Head) + contenders * (sizeof(Column) + records * sizeof(HandoffRecord));
}

HandoffBoard::Head& HandoffBoard::head() const noexcept {
  return *static_cast<Head*>(memory_.data());
}

HandoffBoard::Column& HandoffBoard::column(std::size_t contender) const noexcept {
  char* at = static_cast<char*>(memory_.data()) + sizeof(Head) +
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
