// Errors, results and fencing tokens as values.

#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "redlock/error.hpp"
#include "redlock/result.hpp"
#include "redlock/token.hpp"

namespace redlock {
namespace {

Error busy() { return Error{Errc::held, "held on 'r'", {}}; }

TEST(ErrorCodes, AreThoseOfACategoryOfTheirOwn) {
  const std::error_code code = Errc::held;
  EXPECT_TRUE(code) << "no error is zero";
  EXPECT_EQ(&code.category(), &error_category());
  EXPECT_EQ(std::string_view(code.category().name()), "redlock");
  EXPECT_EQ(code, Errc::held);
  EXPECT_NE(code, Errc::split);
  EXPECT_EQ(std::error_code(busy()), Errc::held);
  for (int value = static_cast<int>(Errc::held); value <= static_cast<int>(Errc::limit_reached);
       ++value) {
    EXPECT_NE(make_error_code(static_cast<Errc>(value)).message(), "unknown") << value;
    EXPECT_NE(to_string(static_cast<Errc>(value)), "unknown") << value;
  }
  EXPECT_EQ(error_category().message(0), "unknown");
  EXPECT_EQ(error_category().message(99), "unknown");
}

TEST(ErrorCodes, AreWrittenAsPeopleReadThem) {
  std::ostringstream out;
  out << busy() << ", " << Errc::held << ", " << Vote::refused;
  EXPECT_EQ(out.str(), "held on 'r', held, refused");
}

TEST(ErrorCodes, CompareWithTheConditionsOfTheStandard) {
  EXPECT_EQ(make_error_code(Errc::held), std::errc::device_or_resource_busy);
  EXPECT_EQ(make_error_code(Errc::split), std::errc::device_or_resource_busy);
  EXPECT_EQ(make_error_code(Errc::unavailable), std::errc::host_unreachable);
  EXPECT_EQ(make_error_code(Errc::expired), std::errc::timed_out);
  EXPECT_EQ(make_error_code(Errc::cancelled), std::errc::operation_canceled);
  EXPECT_EQ(make_error_code(Errc::closed), std::errc::operation_canceled);
  EXPECT_EQ(make_error_code(Errc::forked), std::errc::operation_not_permitted);
  EXPECT_EQ(make_error_code(Errc::would_block), std::errc::resource_deadlock_would_occur);
  EXPECT_EQ(make_error_code(Errc::invalid_argument), std::errc::invalid_argument);
  EXPECT_EQ(make_error_code(Errc::limit_reached), std::errc::resource_unavailable_try_again);
  EXPECT_EQ(make_error_code(Errc::not_holder).default_error_condition().category(),
            error_category());
}

TEST(Results, GiveTheirValueOrAnother) {
  EXPECT_EQ(Result<int>(3).value_or(4), 3);
  EXPECT_EQ(Result<int>(busy()).value_or(4), 4);
  const Result<std::string> text(std::string("a"));
  EXPECT_EQ(text.value_or("b"), "a");
  using Pointer = std::unique_ptr<int>;
  EXPECT_EQ(*Result<Pointer>(std::make_unique<int>(5)).value_or(nullptr), 5);
}

TEST(Results, GoOnWithAValueAndKeepAnError) {
  const auto half = [](int value) -> Result<int> {
    if (value % 2 == 0) return value / 2;
    return Error{Errc::invalid_argument, "odd", {}};
  };
  EXPECT_EQ(Result<int>(8).and_then(half).and_then(half), 2);
  EXPECT_EQ(Result<int>(6).and_then(half).and_then(half).error().message, "odd");
  EXPECT_EQ(Result<int>(busy()).and_then(half).error().code, Errc::held);
  const Result<std::string> text =
      Result<int>(8).transform([](int i) { return std::to_string(i); });
  EXPECT_EQ(text, std::string("8"));
  EXPECT_EQ(Result<int>(busy()).transform([](int i) { return i; }).error().code, Errc::held);
}

TEST(Results, GoOnWithAnErrorAndKeepAValue) {
  const auto zero_if_held = [](const Error& error) -> Result<int> {
    if (error.code == Errc::held) return 0;
    return error;
  };
  EXPECT_EQ(Result<int>(busy()).or_else(zero_if_held), 0);
  EXPECT_EQ(Result<int>(7).or_else(zero_if_held), 7);
  const Result<int> closed(Error{Errc::closed, "", {}});
  EXPECT_EQ(closed.or_else(zero_if_held).error().code, Errc::closed);
}

TEST(Results, MoveWhatCanOnlyBeMoved) {
  using Pointer = std::unique_ptr<int>;
  Result<Pointer> one(std::make_unique<int>(1));
  const auto add = [](Pointer pointer) {
    ++*pointer;
    return Result<Pointer>(std::move(pointer));
  };
  EXPECT_EQ(
      **std::move(one).and_then(add).or_else([](Error error) -> Result<Pointer> { return error; }),
      2);
}

TEST(FencingTokens, AreOrderedAndPrintThemselves) {
  EXPECT_LT(FencingToken(1), FencingToken(2));
  EXPECT_EQ(FencingToken(7).value(), 7U);
  EXPECT_EQ(FencingToken(), FencingToken(0));
  EXPECT_EQ(to_string(FencingToken(42)), "42");
  std::ostringstream out;
  out << FencingToken(42);
  EXPECT_EQ(out.str(), "42");
}

}  // namespace
}  // namespace redlock
