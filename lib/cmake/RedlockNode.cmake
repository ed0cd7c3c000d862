# The package for Node.js, in BUILD/node: a copy of the JavaScript files, and the addon, which
# contains the library. Neither node-gyp nor the network is needed: the headers of Node.js suffice,
# and Node-API is the same for every version of it.
#
# BUILD/node-source has the same package without the addon, as a registry would: when a user
# installs it, lib/bindings/node/install.cjs compiles the addon for the shared library on that
# machine.

if(NOT REDLOCK_NODE OR NOT TARGET redlock_bindings_c)
  return()
endif()
if(REDLOCK_NODE STREQUAL "AUTO" AND NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
if(REDLOCK_SANITIZE)
  # A sanitized addon would need a sanitized Node.js.
  return()
endif()

# The headers are next to the program, as in Node.js's own archives, or in the folder of Debian's
# libnode-dev.
find_program(REDLOCK_NODE_PROGRAM NAMES node nodejs)
set(redlock_node_hints "")
if(REDLOCK_NODE_PROGRAM)
  file(REAL_PATH "${REDLOCK_NODE_PROGRAM}" redlock_node_real)
  cmake_path(GET redlock_node_real PARENT_PATH redlock_node_folder)
  list(APPEND redlock_node_hints "${redlock_node_folder}/../include")
endif()
find_path(REDLOCK_NODE_HEADERS node_api.h
  HINTS ${redlock_node_hints} PATH_SUFFIXES node nodejs/src)
if(NOT REDLOCK_NODE_HEADERS)
  if(REDLOCK_NODE STREQUAL "AUTO")
    message(STATUS "No node_api.h (Debian: libnode-dev): the package for Node.js is left out")
    return()
  endif()
  message(FATAL_ERROR "REDLOCK_NODE needs node_api.h (Debian: libnode-dev), or its folder in "
                      "REDLOCK_NODE_HEADERS")
endif()

set(redlock_node_source "${PROJECT_SOURCE_DIR}/lib/bindings/node")
set(redlock_node_package "${PROJECT_BINARY_DIR}/node")

file(GLOB redlock_node_sources CONFIGURE_DEPENDS "${redlock_node_source}/addon/*.cpp")
add_library(redlock_node MODULE ${redlock_node_sources})
redlock_configure_target(redlock_node)
if(REDLOCK_UNITY)
  set_target_properties(redlock_node PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
endif()
set_target_properties(redlock_node PROPERTIES
  PREFIX "" OUTPUT_NAME quorum_redlock SUFFIX ".node"
  LIBRARY_OUTPUT_DIRECTORY "${redlock_node_package}")
target_compile_definitions(redlock_node PRIVATE NAPI_VERSION=8)
target_include_directories(redlock_node SYSTEM PRIVATE "${REDLOCK_NODE_HEADERS}")
# The addon contains the library, and exports none of its functions.
target_link_libraries(redlock_node PRIVATE redlock_bindings_c)
if(APPLE)
  target_link_options(redlock_node PRIVATE -Wl,-undefined,dynamic_lookup)
else()
  # The addon must stay loaded: its thread still runs, and OpenSSL registers functions for the end
  # of the process.
  target_link_options(redlock_node PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,nodelete)
endif()

# Without tests, the package is built on demand: cmake --build BUILD --target redlock_node
if(REDLOCK_NODE STREQUAL "AUTO" AND NOT REDLOCK_BUILD_TESTS)
  set_target_properties(redlock_node PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

file(GLOB redlock_node_files CONFIGURE_DEPENDS LIST_DIRECTORIES false RELATIVE "${redlock_node_source}"
  "${redlock_node_source}/package.json" "${redlock_node_source}/*.cjs"
  "${redlock_node_source}/*.mjs" "${redlock_node_source}/*.d.ts" "${redlock_node_source}/src/*"
  "${redlock_node_source}/addon/*" "${redlock_node_source}/examples/*"
  "${redlock_node_source}/tests/*"
  "${redlock_node_source}/tests/types/*")
foreach(folder IN ITEMS "${redlock_node_package}" "${redlock_node_package}-source")
  foreach(file IN LISTS redlock_node_files)
    configure_file("${redlock_node_source}/${file}" "${folder}/${file}" COPYONLY)
  endforeach()
  configure_file("${PROJECT_SOURCE_DIR}/LICENSE" "${folder}/LICENSE" COPYONLY)
  configure_file("${PROJECT_SOURCE_DIR}/tools/docs/NODE.md" "${folder}/README.md" COPYONLY)
endforeach()

file(READ "${redlock_node_source}/package.json" redlock_node_version)
string(JSON redlock_node_version GET "${redlock_node_version}" version)
if(NOT redlock_node_version STREQUAL PROJECT_VERSION)
  message(FATAL_ERROR "lib/bindings/node/package.json: version ${redlock_node_version}, the library "
                      "has ${PROJECT_VERSION}")
endif()
