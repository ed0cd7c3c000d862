#include "support/label.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include "support/assert.hpp"

namespace redlock::support {

void Label::assign(std::string_view resource, std::string_view token) {
  const std::size_t size = resource.size() + token.size();
  REDLOCK_ASSERT(size <= UINT16_MAX && token.size() <= UINT8_MAX);
  // Acquire: former sharers have finished reading what is overwritten.
  const bool ours = block_ != nullptr && block_->owners.load(std::memory_order_acquire) == 1;
  if (!ours || block_->capacity < size) {
    drop();
    block_ = nullptr;
    block_ = std::construct_at(static_cast<Block*>(::operator new(sizeof(Block) + size)));
    block_->capacity = static_cast<std::uint16_t>(size);
  }
  block_->resource_size = static_cast<std::uint16_t>(resource.size());
  block_->token_size = static_cast<std::uint8_t>(token.size());
  std::copy(token.begin(), token.end(), std::copy(resource.begin(), resource.end(), letters()));
}

void Label::drop() noexcept {
  if (block_ == nullptr || block_->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  block_->~Block();
  ::operator delete(block_);
}

}  // namespace redlock::support
