#include <uv.h>

#include <array>
#include <cstddef>
#include <string>
#include <system_error>

#include "common/system/platform.hpp"

namespace redlock::cli::platform {

std::string own_program() {
  std::array<char, 4096> path{};
  std::size_t size = path.size();
  const int status = ::uv_exepath(path.data(), &size);
  if (status != 0) throw std::system_error(-status, std::generic_category(), "own program");
  return {path.data(), size};
}

}  // namespace redlock::cli::platform
