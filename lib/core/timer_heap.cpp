#include "core/timer_heap.hpp"

namespace redlock::core {

void TimerHeap::place(std::size_t index, const Entry& entry) noexcept {
  heap_[index] = entry;
  where(entry.key) = static_cast<std::uint32_t>(index);
}

void TimerHeap::rise(std::size_t index) noexcept {
  const Entry entry = heap_[index];
  while (index > 0) {
    const std::size_t parent = (index - 1) / 2;
    if (heap_[parent].at <= entry.at) break;
    place(index, heap_[parent]);
    index = parent;
  }
  place(index, entry);
}

void TimerHeap::sink(std::size_t index) noexcept {
  const Entry entry = heap_[index];
  for (;;) {
    std::size_t child = 2 * index + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1].at < heap_[child].at) ++child;
    if (entry.at <= heap_[child].at) break;
    place(index, heap_[child]);
    index = child;
  }
  place(index, entry);
}

void TimerHeap::drop(std::size_t index) noexcept {
  where(heap_[index].key) = nowhere;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (index == heap_.size()) return;
  place(index, last);
  sink(index);
  rise(where(last.key));
}

void TimerHeap::set(std::uint32_t key, std::optional<Instant> at) {
  std::vector<std::uint32_t>& kind = where_[key % kinds];
  if (key / kinds >= kind.size()) kind.resize(key / kinds + std::size_t{1}, nowhere);
  const std::uint32_t index = where(key);
  if (!at) {
    if (index != nowhere) drop(index);
    return;
  }
  if (index == nowhere) {
    heap_.push_back({*at, key});
    rise(heap_.size() - 1);
    return;
  }
  if (heap_[index].at == *at) return;
  heap_[index].at = *at;
  sink(index);
  rise(where(key));
}

}  // namespace redlock::core
