# Builds quorum-lock, which sees include/ and tools/, never lib/: the public headers must
# suffice. `bench` uses libuv for the loop of its cycles, and hiredis to ask nodes for their counts.

file(GLOB_RECURSE redlock_tool_sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/tools/common/*.cpp" "${PROJECT_SOURCE_DIR}/tools/quorum-lock/*.cpp"
  "${PROJECT_SOURCE_DIR}/tools/bench/*.cpp" "${PROJECT_SOURCE_DIR}/tools/chaos/*.cpp")
redlock_choose_platform(redlock_tool_sources)
list(REMOVE_ITEM redlock_tool_sources ${redlock_server_sources})
if(NOT redlock_tool_sources)
  return()
endif()

find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
include(EmbedTexts)
redlock_embed_texts(redlock_peers_embedded bench/peers_embedded.hpp redlock::bench
  peer_program=bench/peers/peer.mjs peer_packages=bench/peers/package.json)
redlock_embed_texts(redlock_completion_embedded quorum-lock/completion_embedded.hpp redlock::cli
  bash_completion=completion/quorum-lock.bash zsh_completion=completion/_quorum-lock
  fish_completion=completion/quorum-lock.fish)
redlock_embed_texts(redlock_page_embedded chaos/page_embedded.hpp redlock::chaos
  page_text=chaos/report/page.html)

# All but main(), so that unit tests can link it too.
set(redlock_tool_main "${PROJECT_SOURCE_DIR}/tools/quorum-lock/main.cpp")
list(REMOVE_ITEM redlock_tool_sources "${redlock_tool_main}")

# The checker of chaos runs shares nothing with the library that it judges, and does not even see
# the library's headers.
file(GLOB redlock_checker_sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/tools/chaos/checker/*.cpp")
if(redlock_checker_sources)
  list(REMOVE_ITEM redlock_tool_sources ${redlock_checker_sources})
  add_library(quorum_lock_chaos_checker STATIC ${redlock_checker_sources})
  redlock_configure_target(quorum_lock_chaos_checker)
  if(REDLOCK_UNITY)
    set_target_properties(quorum_lock_chaos_checker PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  endif()
  target_include_directories(quorum_lock_chaos_checker PUBLIC "${PROJECT_SOURCE_DIR}/tools")
endif()
if(redlock_tool_sources)
  add_library(quorum_lock_parts STATIC ${redlock_tool_sources} $<TARGET_OBJECTS:redlock_servers>)
  redlock_configure_target(quorum_lock_parts)
  target_compile_options(quorum_lock_parts PRIVATE ${REDLOCK_QUICK_FLAGS})
  if(REDLOCK_PRECOMPILE)
    # Most of the time to compile a file here goes into CLI11 and fmt.
    target_precompile_headers(quorum_lock_parts PRIVATE
      <CLI/CLI.hpp> <fmt/format.h> <algorithm> <chrono> <functional> <memory> <optional> <string>
      <string_view> <vector>)
  endif()
  if(REDLOCK_UNITY)
    # Some verbs have a Request of their own.
    set_target_properties(quorum_lock_parts PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    foreach(source IN LISTS redlock_tool_sources)
      if(source MATCHES "/verb_(run|bench|chaos|table)[^/]*$")
        continue()
      elseif(source MATCHES "/verb_[^/]*$")
        set_source_files_properties("${source}" PROPERTIES UNITY_GROUP verbs)
      elseif(source MATCHES "/tools/(common|quorum-lock|bench|chaos)/")
        set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${CMAKE_MATCH_1}")
      endif()
    endforeach()
  endif()
  target_include_directories(quorum_lock_parts PUBLIC
    "${PROJECT_SOURCE_DIR}/tools" "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(quorum_lock_parts PUBLIC
    CLI11::CLI11 fmt::fmt nlohmann_json::nlohmann_json tomlplusplus::tomlplusplus
    PkgConfig::redlock_libuv PkgConfig::redlock_hiredis Threads::Threads)
  target_link_libraries(quorum_lock_parts PRIVATE redlock_clock)
  add_dependencies(quorum_lock_parts redlock_clock_embedded redlock_peers_embedded
    redlock_completion_embedded redlock_page_embedded)
  if(TARGET quorum_lock_chaos_checker)
    target_link_libraries(quorum_lock_parts PUBLIC quorum_lock_chaos_checker)
  endif()
  if(TARGET redlock_static)
    target_link_libraries(quorum_lock_parts PUBLIC redlock_static)
  elseif(TARGET redlock)
    target_link_libraries(quorum_lock_parts PUBLIC redlock)
  endif()
endif()

if(EXISTS "${redlock_tool_main}" AND TARGET quorum_lock_parts)
  add_executable(quorum-lock "${redlock_tool_main}")
  redlock_configure_target(quorum-lock)
  redlock_optimise_across_files(quorum-lock)
  target_link_libraries(quorum-lock PRIVATE quorum_lock_parts)
  # The program writes its own man page. When it is built for another system, that needs an emulator.
  if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
    set(redlock_tool_manual "${PROJECT_BINARY_DIR}/quorum-lock.1")
    add_custom_command(TARGET quorum-lock POST_BUILD
      COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:quorum-lock> __man
        > "${redlock_tool_manual}"
      BYPRODUCTS "${redlock_tool_manual}" VERBATIM)
  endif()
endif()
