# install(): headers, libraries and their man page, CMake package, pkg-config file, quorum-lock with
# its man page, its pages, its completions, and examples of how to run it. RedlockPackages.cmake makes
# a package of each of the three components: redlock_library, redlock_development, redlock_tool.

set(REDLOCK_ZSH_COMPLETION_DIR "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" CACHE STRING
  "Where zsh looks for completions, below the prefix; Debian's own packages have another place")

include(CMakePackageConfigHelpers)

set(redlock_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/redlock")

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/redlock" TYPE INCLUDE
  COMPONENT redlock_development FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def")
install(FILES "${PROJECT_SOURCE_DIR}/include/redlock.h" TYPE INCLUDE
  COMPONENT redlock_development)

install(FILES "${PROJECT_SOURCE_DIR}/tools/man/libredlock.3"
  DESTINATION "${CMAKE_INSTALL_MANDIR}/man3" COMPONENT redlock_development)

# The examples from the pages for a first start: these programs need only the library, and nodes on
# their command line.
set(redlock_programs blocking election hand_over interval mutex owner readers_writers recursive renewal
  several semaphore who_holds_it worker)
list(TRANSFORM redlock_programs REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/tests/examples/\\1.cpp")
set(redlock_programs_dir "${CMAKE_INSTALL_DATADIR}/redlock/examples/programs")
install(FILES ${redlock_programs} "${PROJECT_SOURCE_DIR}/tests/examples/nodes.hpp"
  DESTINATION "${redlock_programs_dir}" COMPONENT redlock_development)
include("${PROJECT_SOURCE_DIR}/tests/c/Sources.cmake")
redlock_extract_c_example(redlock_c_program)
install(FILES "${redlock_c_program}" RENAME mutex.c
  DESTINATION "${redlock_programs_dir}" COMPONENT redlock_development)

# Two export sets: the shared library needs nothing from its user, and must stay usable without the
# development packages that the static one needs.
set(redlock_testing_targets redlock_testing_archive redlock_testing)
if(TARGET redlock)
  install(TARGETS redlock ${redlock_testing_targets} EXPORT redlockSharedTargets
    LIBRARY COMPONENT redlock_library NAMELINK_COMPONENT redlock_development
    ARCHIVE COMPONENT redlock_development)
  set(redlock_testing_targets "")
  install(EXPORT redlockSharedTargets NAMESPACE redlock:: DESTINATION "${redlock_package_dir}"
    COMPONENT redlock_development)
endif()
if(TARGET redlock_static)
  install(TARGETS redlock_static redlock_testing_static ${redlock_testing_targets}
    EXPORT redlockStaticTargets ARCHIVE COMPONENT redlock_development)
  install(EXPORT redlockStaticTargets NAMESPACE redlock:: DESTINATION "${redlock_package_dir}"
    COMPONENT redlock_development)
endif()

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/lib/cmake/redlockConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/redlockConfig.cmake"
  INSTALL_DESTINATION "${redlock_package_dir}"
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/redlockConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/redlockConfig.cmake"
  "${PROJECT_BINARY_DIR}/redlockConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/lib/cmake/RedlockDependencies.cmake"
  DESTINATION "${redlock_package_dir}" COMPONENT redlock_development)

# The prefix is relative to the .pc file, so that an installed tree can be moved.
file(RELATIVE_PATH redlock_pc_prefix
  "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" redlock_pc_prefix "${redlock_pc_prefix}")
# Debian has no libuv.a, or not under the name that libuv.pc leads to: its static library has a .pc
# file of its own.
pkg_check_modules(redlock_libuv_static QUIET libuv-static)
if(redlock_libuv_static_FOUND)
  set(redlock_pc_libuv libuv-static)
else()
  set(redlock_pc_libuv libuv)
endif()
if(REDLOCK_SHARED)
  set(redlock_pc_requires "Requires.private")
else()
  set(redlock_pc_requires "Requires")
endif()
foreach(name IN ITEMS redlock redlock-testing)
  configure_file("${PROJECT_SOURCE_DIR}/lib/cmake/${name}.pc.in" "${PROJECT_BINARY_DIR}/${name}.pc"
    @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
    COMPONENT redlock_development)
endforeach()

if(TARGET quorum-lock)
  install(TARGETS quorum-lock COMPONENT redlock_tool)
  if(redlock_tool_manual)
    install(FILES "${redlock_tool_manual}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
      COMPONENT redlock_tool)
  endif()
  # The pages that the man page and the help name.
  foreach(page IN ITEMS CLI METRICS OPERATING REFERENCE TEAMS)
    install(FILES "${PROJECT_SOURCE_DIR}/tools/docs/${page}.md"
      DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/quorum-lock" COMPONENT redlock_tool)
  endforeach()
  # Each shell looks in a place of its own, for a name that its own rules give.
  set(redlock_completion "${PROJECT_SOURCE_DIR}/tools/completion")
  if(EXISTS "${redlock_completion}/quorum-lock.bash")
    install(FILES "${redlock_completion}/quorum-lock.bash" RENAME quorum-lock
      DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT redlock_tool)
  endif()
  if(EXISTS "${redlock_completion}/_quorum-lock")
    install(FILES "${redlock_completion}/_quorum-lock"
      DESTINATION "${REDLOCK_ZSH_COMPLETION_DIR}" COMPONENT redlock_tool)
  endif()
  if(EXISTS "${redlock_completion}/quorum-lock.fish")
    install(FILES "${redlock_completion}/quorum-lock.fish"
      DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" COMPONENT redlock_tool)
  endif()
  # The schemas of the JSON that quorum-lock prints, for programs that read it.
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/tools/docs/schemas"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/redlock" COMPONENT redlock_tool)
  # Examples for operators to copy: an installed example is not active. The folders that make
  # packages are not examples.
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/tools/packaging/" USE_SOURCE_PERMISSIONS
    DESTINATION "${CMAKE_INSTALL_DATADIR}/redlock/examples" COMPONENT redlock_tool
    REGEX "/tools/packaging/(bundle|conan|debian|node|python|release|vcpkg|kubernetes/secrets)$" EXCLUDE)
endif()
