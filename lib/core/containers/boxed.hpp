#pragma once

#include <memory>
#include <utility>

namespace redlock::core {

/// An optional member on the heap, copied with its owner. Assignment to a value that exists reuses
/// the memory that this value has allocated.
template <typename T>
class Boxed {
 public:
  Boxed() noexcept = default;
  explicit Boxed(std::unique_ptr<T> what) noexcept : what_(std::move(what)) {}
  Boxed(const Boxed& other) : what_(other ? std::make_unique<T>(*other) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(Boxed&&) noexcept = default;
  Boxed& operator=(const Boxed& other) {
    if (this == &other) return *this;
    if (what_ && other) {
      *what_ = *other;
    } else {
      what_ = other ? std::make_unique<T>(*other) : nullptr;
    }
    return *this;
  }
  ~Boxed() = default;

  /// Creates the value if it is absent.
  T& make() {
    if (!what_) what_ = std::make_unique<T>();
    return *what_;
  }
  [[nodiscard]] std::unique_ptr<T> take() noexcept { return std::move(what_); }

  [[nodiscard]] explicit operator bool() const noexcept { return what_ != nullptr; }
  [[nodiscard]] T& operator*() noexcept { return *what_; }
  [[nodiscard]] const T& operator*() const noexcept { return *what_; }
  [[nodiscard]] T* operator->() noexcept { return what_.get(); }
  [[nodiscard]] const T* operator->() const noexcept { return what_.get(); }

 private:
  std::unique_ptr<T> what_;
};

}  // namespace redlock::core
