#pragma once

namespace redlock::uv {

/// A function pointer and its context, the shape libuv itself calls back with. Not std::function:
/// that may allocate, may throw when copied, and hides who owns the captured objects.
/// The object bound by to() must outlive whatever holds the callback.
class Callback {
 public:
  /// Callback::to<&Driver::on_wake>(driver); the member must be noexcept, because C calls it.
  template <auto Member, class Object>
  [[nodiscard]] static Callback to(Object& object) noexcept {
    static_assert(noexcept((object.*Member)()), "an exception must not cross libuv's C frames");
    return Callback([](void* context) noexcept { (static_cast<Object*>(context)->*Member)(); },
                    &object);
  }

  void operator()() const noexcept { function_(context_); }

 private:
  using Function = void (*)(void*) noexcept;

  Callback(Function function, void* context) noexcept : function_(function), context_(context) {}

  Function function_;
  void* context_;
};

}  // namespace redlock::uv
