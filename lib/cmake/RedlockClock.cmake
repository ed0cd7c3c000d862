# The movable wall clock of tools/clock: a library for LD_PRELOAD, and the code that writes the file
# which the library reads. The tests use the library from the build folder. quorum-lock contains its
# bytes, and writes them next to the clock file: nothing has to be installed or found.
#
# This file has two roles: include()d, it defines the targets; run by `cmake -P`, it writes HEADER, with
# the bytes of FILE as
#   inline constexpr unsigned char preload[] = {…};
# in namespace redlock::wall_clock.

if(CMAKE_SCRIPT_MODE_FILE)
  file(READ "${FILE}" bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  # Wraps the bytes: a single line would have a hundred thousand characters.
  string(REGEX REPLACE "(................................................................................)"
    "\\1\n" bytes "${bytes}")
  file(WRITE "${HEADER}" "// Generated from tools/clock/preload_*.cpp by lib/cmake/RedlockClock.cmake.
#pragma once

namespace redlock::wall_clock {

inline constexpr unsigned char preload[] = {
${bytes}};

}  // namespace redlock::wall_clock
")
  return()
endif()

# The library is loaded into programs that are not ours, which have no sanitizer and may not even
# have the C++ library, so it links the C library only.
function(redlock_add_clock_preload)
  set(REDLOCK_SANITIZE "")
  set(REDLOCK_STDLIB_ASSERTIONS OFF)
  set(REDLOCK_IPO OFF)
  # REDLOCK_PORTABLE does not matter here: the library is for the servers that tests and chaos runs
  # start.
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(system linux)
  else()
    set(system posix)
  endif()
  add_library(redlock_clock_preload MODULE
    "${PROJECT_SOURCE_DIR}/tools/clock/preload_${system}.cpp")
  redlock_configure_target(redlock_clock_preload)
  target_include_directories(redlock_clock_preload PRIVATE "${PROJECT_SOURCE_DIR}/tools")
  if(system STREQUAL "linux")
    target_link_options(redlock_clock_preload PRIVATE
      -Wl,--as-needed -Wl,--no-undefined -Wl,--strip-all)
  endif()
endfunction()
redlock_add_clock_preload()

set(redlock_clock_header "${PROJECT_BINARY_DIR}/generated/clock/preload_embedded.hpp")
add_custom_command(
  OUTPUT "${redlock_clock_header}"
  COMMAND "${CMAKE_COMMAND}" "-DHEADER=${redlock_clock_header}"
          "-DFILE=$<TARGET_FILE:redlock_clock_preload>" -P "${CMAKE_CURRENT_LIST_FILE}"
  DEPENDS redlock_clock_preload "${CMAKE_CURRENT_LIST_FILE}"
  COMMENT "Embedding the movable clock"
  VERBATIM)
add_custom_target(redlock_clock_embedded DEPENDS "${redlock_clock_header}")

add_library(redlock_clock STATIC "${PROJECT_SOURCE_DIR}/tools/clock/clock_file.cpp")
redlock_configure_target(redlock_clock)
target_include_directories(redlock_clock PUBLIC
  "${PROJECT_SOURCE_DIR}/tools" "${PROJECT_BINARY_DIR}/generated")
