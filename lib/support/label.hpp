#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace redlock::support {

/// The resource and the token of a claim, shared with its Lease. Both are written once, before they
/// are shared, and live as long as any owner on any thread.
class Label {
 public:
  Label() noexcept = default;
  Label(const Label& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) block_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Label(Label&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Label& operator=(Label other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Label() { drop(); }

  /// Replaces the label. Memory that nobody shares and that is large enough is reused.
  void assign(std::string_view resource, std::string_view token);

  [[nodiscard]] std::string_view resource() const noexcept {
    return block_ != nullptr ? std::string_view(letters(), block_->resource_size)
                             : std::string_view();
  }
  [[nodiscard]] std::string_view token() const noexcept {
    return block_ != nullptr
               ? std::string_view(letters() + block_->resource_size, block_->token_size)
               : std::string_view();
  }

 private:
  /// The letters follow the block in memory.
  struct Block {
    std::atomic<std::uint32_t> owners{1};
    std::uint16_t capacity = 0;
    std::uint16_t resource_size = 0;
    std::uint8_t token_size = 0;
  };
  [[nodiscard]] char* letters() const noexcept { return reinterpret_cast<char*>(block_ + 1); }
  void drop() noexcept;

  Block* block_ = nullptr;
};

}  // namespace redlock::support
