# Debian packages, which cpack makes from the installed files: libredlock0.1, libredlock-dev,
# quorum-lock. tools/packaging/debian/run builds them. Their dependencies are read from the programs
# (dpkg-shlibdeps).

if(NOT TARGET redlock OR NOT TARGET redlock_static OR NOT TARGET quorum-lock)
  return()
endif()

set(REDLOCK_PACKAGE_CONTACT "The redlock authors <redlock@example.invalid>" CACHE STRING
  "Maintainer of the packages")

get_target_property(redlock_soversion redlock SOVERSION)
set(redlock_package_library "libredlock${redlock_soversion}")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME redlock)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "${REDLOCK_PACKAGE_CONTACT}")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL redlock_library redlock_development redlock_tool)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_REDLOCK_LIBRARY_PACKAGE_NAME "${redlock_package_library}")
set(CPACK_DEBIAN_REDLOCK_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_REDLOCK_LIBRARY_DESCRIPTION
  "This is the shared library.
Locks for C++ programs that survive the loss of a minority of the machines.")

set(CPACK_DEBIAN_REDLOCK_DEVELOPMENT_PACKAGE_NAME libredlock-dev)
set(CPACK_DEBIAN_REDLOCK_DEVELOPMENT_PACKAGE_SECTION libdevel)
# The other development packages are for the static library; pkg-config reads their .pc files for
# the shared one too.
set(CPACK_DEBIAN_REDLOCK_DEVELOPMENT_PACKAGE_DEPENDS
  "${redlock_package_library} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}), \
libuv1-dev, libhiredis-dev, libssl-dev")
set(CPACK_COMPONENT_REDLOCK_DEVELOPMENT_DESCRIPTION
  "These are the headers and the static library.
For programs in C++20, by find_package(redlock) of CMake or by pkg-config.")

# quorum-lock is linked with the static library, so it depends on no other package of ours.
set(CPACK_DEBIAN_REDLOCK_TOOL_PACKAGE_NAME quorum-lock)
set(CPACK_DEBIAN_REDLOCK_TOOL_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_REDLOCK_TOOL_PACKAGE_SUGGESTS "redis-server")
set(CPACK_COMPONENT_REDLOCK_TOOL_DESCRIPTION
  "This is the command line.
Runs commands under a lock or as an elected leader, inspects locks, checks nodes.
The option --local needs redis-server.")

# Each package has the licence under its own name; an installation without packages does not need it
# three times.
foreach(pair IN ITEMS "library ${redlock_package_library}" "development libredlock-dev"
                      "tool quorum-lock")
  separate_arguments(pair)
  list(GET pair 0 component)
  list(GET pair 1 package)
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" RENAME copyright
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${package}" COMPONENT redlock_${component}
    EXCLUDE_FROM_ALL)
endforeach()

include(CPack)
