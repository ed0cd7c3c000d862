#pragma once

#include <pthread.h>
#include <csignal>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "examples/task.hpp"
#include "redlock/redlock.hpp"

// As GoogleTest has them, in which the pages write tests.
#define EXPECT_TRUE(condition) ((condition) ? static_cast<void>(0) : std::abort())
#define EXPECT_FALSE(condition) EXPECT_TRUE(!(condition))
#define EXPECT_EQ(one, other) EXPECT_TRUE((one) == (other))

/// The declarations that the pages' C++ assumes: the reader's own program.
namespace redlock::documentation {

using namespace std::chrono_literals;
using example::Task;

inline int complain(std::string_view message) { return message.empty() ? 0 : 1; }
inline bool work_is_left() { return false; }
inline void work() {}
inline void send(std::string_view) {}
inline std::string received;
/// The servers that a program of a page names.
inline std::vector<std::string> nodes() {
  std::vector<std::string> urls(1);
  const char* const text = std::getenv("QUORUM_LOCK_NODES");
  for (const char next : std::string_view(text == nullptr ? "" : text)) {
    if (next == ',') {
      urls.emplace_back();
    } else {
      urls.back() += next;
    }
  }
  return urls;
}
inline std::string token_for(const std::string& url) { return url; }

struct Invoice {};
struct Storage {
  void write(const Invoice&, redlock::FencingToken) {}
};

inline Invoice invoice;
inline Storage storage;
inline std::mutex another;

}  // namespace redlock::documentation
