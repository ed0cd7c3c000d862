# Compiles every target of ours in the same way, and builds the library from its layers.

include(CheckIPOSupported)
include(CheckLinkerFlag)

# Wraps compilers in ccache when it is installed. The sloppiness lets ccache cache files that use a
# precompiled header; without it, each of them would be a miss.
#
# Looks for ccache once per build folder: otherwise a later installation of ccache would change all
# command lines, and compile everything again. `cmake -U REDLOCK_CCACHE …` searches again.
macro(redlock_use_ccache)
  if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    if(NOT DEFINED CACHE{REDLOCK_CCACHE})
      find_program(REDLOCK_CCACHE ccache)
    elseif(REDLOCK_CCACHE AND NOT EXISTS "${REDLOCK_CCACHE}")
      set_property(CACHE REDLOCK_CCACHE PROPERTY VALUE REDLOCK_CCACHE-NOTFOUND)
    endif()
    if(REDLOCK_CCACHE)
      set(CMAKE_CXX_COMPILER_LAUNCHER
        "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${REDLOCK_CCACHE}")
    endif()
  endif()
endmacro()

if(REDLOCK_IPO)
  check_ipo_supported(RESULT redlock_ipo_works OUTPUT redlock_ipo_output LANGUAGES CXX)
  if(NOT redlock_ipo_works)
    message(WARNING "REDLOCK_IPO is ignored: ${redlock_ipo_output}")
  endif()
endif()

if(REDLOCK_LLD)
  check_linker_flag(CXX -fuse-ld=lld REDLOCK_LLD_WORKS)
endif()

# The language, the warnings and the instrumentation of one of our own targets.
function(redlock_configure_target target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES
    CXX_STANDARD 20
    CXX_STANDARD_REQUIRED ON
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
    -Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi
    $<$<CXX_COMPILER_ID:Clang>:-Wreserved-identifier>
    # Nobody replaces single functions of the shared library: calls within it may be inlined, as
    # clang does anyway.
    $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)
  if(REDLOCK_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(REDLOCK_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The compiler does not collect its own garbage below 512 MiB, which saves a seventh of the time
    # of such files.
    target_compile_options(${target} PRIVATE --param=ggc-min-heapsize=524288)
  endif()
  if(REDLOCK_LLD AND REDLOCK_LLD_WORKS)
    target_link_options(${target} PRIVATE -fuse-ld=lld)
  endif()
  if(REDLOCK_STDLIB_ASSERTIONS)
    target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS)
  endif()
  if(REDLOCK_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=${REDLOCK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${REDLOCK_SANITIZE})
  endif()
endfunction()

# Compiles a part of the library so that it can be optimised together with the others when the library
# or a program is linked. It saves 5 to 9 % of the instructions of a lock cycle.
function(redlock_optimise_across_files target)
  if(REDLOCK_IPO AND redlock_ipo_works)
    set_target_properties(${target} PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # The static library must stay usable without this very compiler's link-time optimiser.
      target_compile_options(${target} PRIVATE -ffat-lto-objects)
    endif()
  endif()
endfunction()

# Most of the time to compile a small file goes into the standard library's headers. The build with
# clang does not precompile them, and so notices a missing #include.
function(redlock_precompile_headers target)
  if(NOT REDLOCK_PRECOMPILE)
    return()
  endif()
  if(NOT TARGET redlock_precompiled)
    set(empty "${PROJECT_BINARY_DIR}/precompiled.cpp")
    file(CONFIGURE OUTPUT "${empty}" CONTENT "")
    add_library(redlock_precompiled STATIC "${empty}")
    redlock_configure_target(redlock_precompiled)
    target_precompile_headers(redlock_precompiled PRIVATE
      <algorithm> <array> <chrono> <cstdint> <cstring> <functional> <map> <memory> <optional>
      <string> <string_view> <utility> <variant> <vector>)
  endif()
  target_precompile_headers(${target} REUSE_FROM redlock_precompiled)
endfunction()

# Code that differs between systems is in two files: NAME_linux.cpp, and NAME_posix.cpp for all
# other systems. Drops the files of the other kind from a list; some NAME_linux.cpp have no
# counterpart.
function(redlock_choose_platform variable)
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT REDLOCK_PORTABLE)
    list(FILTER ${variable} EXCLUDE REGEX "_posix(_test)?\\.cpp$")
  else()
    list(FILTER ${variable} EXCLUDE REGEX "_linux(_test)?\\.cpp$")
  endif()
  set(${variable} "${${variable}}" PARENT_SCOPE)
endfunction()

# redlock_add_layer(core LINKS redlock_support): the static library redlock_<folder> of
# lib/<folder>, redlock_bindings_c of lib/bindings/c. A folder without sources or headers makes no
# target, and a folder of headers an interface target.
function(redlock_add_layer folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINKS")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lib/${folder}/*.cpp")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lib/${folder}/*.hpp")
  redlock_choose_platform(sources)
  if(NOT sources AND NOT headers)
    return()
  endif()

  set(links "")
  foreach(link IN LISTS arg_LINKS)
    if(TARGET ${link})
      list(APPEND links ${link})
    elseif(NOT link MATCHES "^redlock_")
      message(FATAL_ERROR "redlock_${folder} links ${link}, which was not found")
    endif()
  endforeach()

  string(REPLACE "/" "_" name "${folder}")
  set(target redlock_${name})
  if(NOT sources)
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE
      "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/lib")
    target_link_libraries(${target} INTERFACE ${links})
    return()
  endif()
  add_library(${target} STATIC ${sources} ${headers})
  redlock_configure_target(${target})
  redlock_optimise_across_files(${target})
  if(folder IN_LIST REDLOCK_QUICK_LAYERS)
    # The precompiled headers have other flags.
    target_compile_options(${target} PRIVATE ${REDLOCK_QUICK_FLAGS})
  else()
    redlock_precompile_headers(${target})
  endif()
  if(REDLOCK_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON
      UNITY_BUILD_BATCH_SIZE ${REDLOCK_UNITY_BATCH})
    # Tests replace the stream by one of their own.
    set_source_files_properties("${PROJECT_SOURCE_DIR}/lib/uv/stream.cpp"
      PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  target_include_directories(${target} PUBLIC
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/lib")
  target_link_libraries(${target} PUBLIC ${links})
  set_property(GLOBAL APPEND PROPERTY REDLOCK_LAYERS ${target})
  redlock_check_layer(${name} "${links}")
endfunction()

# Links all of a layer's objects with the libraries that the layer may use, and nothing else. An
# undefined symbol means that the folder uses another one that it must not use.
function(redlock_check_layer name links)
  if(NOT REDLOCK_BUILD_TESTS OR REDLOCK_SANITIZE OR REDLOCK_IPO)
    return()
  endif()
  add_library(redlock_layer_check_${name} MODULE $<TARGET_OBJECTS:redlock_${name}>)
  set_target_properties(redlock_layer_check_${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(redlock_layer_check_${name} PRIVATE ${links})
  if(NOT APPLE)  # --no-undefined is the default there
    target_link_options(redlock_layer_check_${name} PRIVATE -Wl,--no-undefined)
  endif()
endfunction()

# The installed library, shared and static, from the objects of all layers.
function(redlock_add_library)
  get_property(layers GLOBAL PROPERTY REDLOCK_LAYERS)
  if(NOT layers)
    return()
  endif()
  list(TRANSFORM layers REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  set(kinds "")
  if(REDLOCK_SHARED)
    add_library(redlock SHARED ${objects})
    add_library(redlock::redlock ALIAS redlock)
    # While the first number is 0, another second number is another interface.
    set(soversion ${PROJECT_VERSION_MAJOR})
    if(soversion EQUAL 0)
      string(APPEND soversion ".${PROJECT_VERSION_MINOR}")
    endif()
    set_target_properties(redlock PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${soversion})
    if(NOT REDLOCK_SANITIZE AND NOT APPLE)
      target_link_options(redlock PRIVATE -Wl,--no-undefined)
    endif()
    list(APPEND kinds redlock)
  endif()
  if(REDLOCK_STATIC)
    add_library(redlock_static STATIC ${objects})
    add_library(redlock::redlock_static ALIAS redlock_static)
    set_target_properties(redlock_static PROPERTIES OUTPUT_NAME redlock)
    list(APPEND kinds redlock_static)
  endif()
  foreach(kind IN LISTS kinds)
    redlock_configure_target(${kind})
    redlock_optimise_across_files(${kind})
    set_target_properties(${kind} PROPERTIES LINKER_LANGUAGE CXX)
    target_include_directories(${kind} INTERFACE
      "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
      "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
    target_link_libraries(${kind} PRIVATE
      PkgConfig::redlock_libuv PkgConfig::redlock_hiredis OpenSSL::SSL OpenSSL::Crypto
      Threads::Threads)
  endforeach()
endfunction()
