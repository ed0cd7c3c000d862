# quorum-lock. It sees include/ and its own folders, never lib/: the public headers must suffice.
# libuv and hiredis are there for the floor that `bench` measures the library against.

file(GLOB redlock_tool_sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/tools/quorum-lock/*.cpp" "${PROJECT_SOURCE_DIR}/tools/bench/*.cpp")
if(NOT redlock_tool_sources)
  return()
endif()

find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)

# All but main(), so that unit tests can link it too.
set(redlock_tool_main "${PROJECT_SOURCE_DIR}/tools/quorum-lock/main.cpp")
list(REMOVE_ITEM redlock_tool_sources "${redlock_tool_main}")
if(redlock_tool_sources)
  add_library(quorum_lock_parts STATIC ${redlock_tool_sources})
  redlock_configure_target(quorum_lock_parts)
  redlock_precompile_headers(quorum_lock_parts)
  target_include_directories(quorum_lock_parts PUBLIC
    "${PROJECT_SOURCE_DIR}/tools" "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(quorum_lock_parts PUBLIC
    CLI11::CLI11 fmt::fmt nlohmann_json::nlohmann_json tomlplusplus::tomlplusplus
    PkgConfig::redlock_libuv PkgConfig::redlock_hiredis Threads::Threads)
  if(TARGET redlock_static)
    target_link_libraries(quorum_lock_parts PUBLIC redlock_static)
  elseif(TARGET redlock)
    target_link_libraries(quorum_lock_parts PUBLIC redlock)
  endif()
endif()

if(EXISTS "${redlock_tool_main}" AND TARGET quorum_lock_parts)
  add_executable(quorum-lock "${redlock_tool_main}")
  redlock_configure_target(quorum-lock)
  target_link_libraries(quorum-lock PRIVATE quorum_lock_parts)
endif()

# The worked example of a storage that checks fencing tokens. Not installed.
file(GLOB redlock_storage_sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/tools/fenced-storage/*.cpp")
if(redlock_storage_sources AND TARGET quorum_lock_parts)
  add_executable(fenced-storage ${redlock_storage_sources})
  redlock_configure_target(fenced-storage)
  target_link_libraries(fenced-storage PRIVATE quorum_lock_parts)
endif()
