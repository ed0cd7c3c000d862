#include "core/containers/timer_heap.hpp"

namespace redlock::core {

void TimerHeap::place(std::size_t index, const Entry& entry) noexcept {
  heap_[index] = entry;
  where(entry.key) = static_cast<std::uint32_t>(index);
}

void TimerHeap::rise(std::size_t index, const Entry& entry) noexcept {
  while (index > 0) {
    const std::size_t parent = (index - 1) / 2;
    if (heap_[parent].at <= entry.at) break;
    place(index, heap_[parent]);
    index = parent;
  }
  place(index, entry);
}

void TimerHeap::settle(std::size_t index, const Entry& entry) noexcept {
  const std::size_t size = heap_.size();
  const std::size_t began = index;
  for (;;) {
    std::size_t child = 2 * index + 1;
    if (child >= size) break;
    if (child + 1 < size && heap_[child + 1].at < heap_[child].at) ++child;
    if (entry.at <= heap_[child].at) break;
    place(index, heap_[child]);
    index = child;
  }
  // An entry that sank is later than its new parent: it need not rise.
  if (index == began) return rise(index, entry);
  place(index, entry);
}

void TimerHeap::drop(std::size_t index) noexcept {
  where(heap_[index].key) = nowhere;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (index != heap_.size()) settle(index, last);
}

void TimerHeap::set(std::uint32_t key, Instant at) {
  std::vector<std::uint32_t>& kind = where_[key % kinds];
  if (key / kinds >= kind.size()) kind.resize(key / kinds + std::size_t{1}, nowhere);
  const std::uint32_t index = where(key);
  if (index == nowhere) {
    heap_.push_back({at, key});
    return rise(heap_.size() - 1, {at, key});
  }
  if (heap_[index].at != at) settle(index, {at, key});
}

}  // namespace redlock::core
