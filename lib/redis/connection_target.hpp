#pragma once

#include <string>

#include "uv/stream.hpp"

namespace redlock::redis {

/// Which server, as whom, which database.
struct ConnectionTarget {
  uv::Endpoint endpoint{};
  std::string user{};      ///< empty: the default user
  std::string password{};  ///< empty, and no user: nothing is proven
  int db = 0;
};

}  // namespace redlock::redis
