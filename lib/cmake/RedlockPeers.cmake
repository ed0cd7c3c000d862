# Embeds the files that `quorum-lock bench --peers` needs at run time: nothing has to be installed
# or found.
#
# This file has two roles: include()d, it defines the target redlock_peers_embedded; run by `cmake -P`,
# it writes HEADER, with the texts of PROGRAM and PACKAGES as
#   inline constexpr std::string_view peer_program = …, peer_packages = …;
# in namespace redlock::bench.

if(CMAKE_SCRIPT_MODE_FILE)
  set(definitions "")
  foreach(name IN ITEMS PROGRAM PACKAGES)
    file(READ "${${name}}" text)
    string(FIND "${text}" ")text\"" delimiter)
    if(NOT delimiter EQUAL -1)
      message(FATAL_ERROR "${${name}}: contains )text\"")
    endif()
    string(TOLOWER "peer_${name}" variable)
    string(APPEND definitions
      "inline constexpr std::string_view ${variable} = R\"text(${text})text\";\n\n")
  endforeach()
  file(WRITE "${HEADER}" "// Generated from tools/bench/peers by lib/cmake/RedlockPeers.cmake.
#pragma once

#include <string_view>

namespace redlock::bench {

${definitions}}  // namespace redlock::bench
")
  return()
endif()

set(redlock_peers "${PROJECT_SOURCE_DIR}/tools/bench/peers")
set(redlock_peers_header "${PROJECT_BINARY_DIR}/generated/bench/peers_embedded.hpp")
add_custom_command(
  OUTPUT "${redlock_peers_header}"
  COMMAND "${CMAKE_COMMAND}" "-DHEADER=${redlock_peers_header}"
          "-DPROGRAM=${redlock_peers}/peer.mjs" "-DPACKAGES=${redlock_peers}/package.json"
          -P "${CMAKE_CURRENT_LIST_FILE}"
  DEPENDS "${redlock_peers}/peer.mjs" "${redlock_peers}/package.json" "${CMAKE_CURRENT_LIST_FILE}"
  COMMENT "Embedding what runs other Redlock clients"
  VERBATIM)
add_custom_target(redlock_peers_embedded DEPENDS "${redlock_peers_header}")
