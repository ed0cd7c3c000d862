#pragma once

#include <concepts>
#include <utility>

namespace redlock::core {

namespace test {
struct Anybody;
}

/// A key to fields. Only `Writer` can make a `By<Writer>`. It keeps one, `me`, and shows it to
/// change a field: `field.by(me) = …`. Tests of a part have the key of `test::Anybody`, which fits
/// all.
template <typename Writer>
class By {
 public:
  template <std::same_as<test::Anybody> Test>
    requires(!std::same_as<Writer, Test>)
  constexpr explicit(false) By(By<Test> /*me*/) noexcept {}

 private:
  friend Writer;
  constexpr explicit By() noexcept = default;
};

template <typename Writer, typename... Writers>
concept OneOf = (std::same_as<Writer, Writers> || ... || std::same_as<Writer, test::Anybody>);

/// A value that everybody may read, and that only these classes may change, or the functions to
/// which they lend it: the compiler refuses `by(me)` in others. A pointer or an optional is read
/// like one. What a pointer leads to has writers of its own.
template <typename Value, typename... Writers>
class WrittenBy {
  static constexpr bool leads_on = requires(const Value& value) { value.operator->(); };

 public:
  constexpr WrittenBy() = default;
  constexpr explicit(false) WrittenBy(Value value) : value_(std::move(value)) {}
  WrittenBy(WrittenBy&&) noexcept = default;
  WrittenBy(const WrittenBy&) = delete;
  WrittenBy& operator=(const WrittenBy&) = delete;
  WrittenBy& operator=(WrittenBy&&) = delete;
  ~WrittenBy() = default;

  [[nodiscard]] constexpr const Value& read() const noexcept { return value_; }
  constexpr operator const Value&() const noexcept { return value_; }
  [[nodiscard]] constexpr const Value* operator->() const noexcept { return &value_; }
  [[nodiscard]] constexpr const Value& operator*() const noexcept { return value_; }

  [[nodiscard]] constexpr const Value& operator->() const noexcept requires leads_on {
    return value_;
  }
  [[nodiscard]] constexpr const auto& operator*() const noexcept requires leads_on {
    return *value_;
  }
  [[nodiscard]] constexpr explicit operator bool() const noexcept requires leads_on {
    return static_cast<bool>(value_);
  }

  template <OneOf<Writers...> Writer>
  [[nodiscard]] constexpr Value& by(By<Writer> /*me*/) noexcept {
    return value_;
  }

 private:
  Value value_{};
};

}  // namespace redlock::core
