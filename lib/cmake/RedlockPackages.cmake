# Debian packages, which cpack makes from the installed files: libredlock0.1, libredlock-dev,
# quorum-lock. tools/packaging/debian/run builds them. Their dependencies are read from the programs
# (dpkg-shlibdeps).

if(NOT TARGET redlock OR NOT TARGET redlock_static OR NOT TARGET quorum-lock)
  return()
endif()

# The project has neither a home on the web nor an address of its own: distributors of packages name
# both here.
set(REDLOCK_HOMEPAGE "" CACHE STRING "Homepage that the packages name; empty: none")
set(REDLOCK_PACKAGE_CONTACT "" CACHE STRING
  "Maintainer of the packages, NAME <ADDRESS>; empty: DEBFULLNAME and DEBEMAIL of the environment")
set(redlock_contact "${REDLOCK_PACKAGE_CONTACT}")
if(NOT redlock_contact AND NOT "$ENV{DEBEMAIL}" STREQUAL "")
  set(redlock_contact "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
  string(STRIP "${redlock_contact}" redlock_contact)
elseif(NOT redlock_contact)
  # Debian's format requires an address. This domain is reserved, so it is nobody's (RFC 2606).
  set(redlock_contact "The redlock authors <redlock@example.invalid>")
endif()

get_target_property(redlock_soversion redlock SOVERSION)
set(redlock_package_library "libredlock${redlock_soversion}")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME redlock)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "${redlock_contact}")
if(REDLOCK_HOMEPAGE)
  set(CPACK_DEBIAN_PACKAGE_HOMEPAGE "${REDLOCK_HOMEPAGE}")
endif()
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL redlock_library redlock_development redlock_tool)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_REDLOCK_LIBRARY_PACKAGE_NAME "${redlock_package_library}")
set(CPACK_DEBIAN_REDLOCK_LIBRARY_PACKAGE_SECTION libs)
# Not those that CPack generates: it calls ldconfig in scripts, and Debian wants a trigger.
set(redlock_control "${PROJECT_BINARY_DIR}/debian-control")
file(CONFIGURE OUTPUT "${redlock_control}/shlibs" CONTENT
  "libredlock ${redlock_soversion} ${redlock_package_library} (>= ${PROJECT_VERSION})\n")
file(CONFIGURE OUTPUT "${redlock_control}/triggers" CONTENT "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_REDLOCK_LIBRARY_PACKAGE_CONTROL_EXTRA
  "${redlock_control}/shlibs;${redlock_control}/triggers")
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
set(CPACK_DEBIAN_REDLOCK_DEVELOPMENT_PACKAGE_SUGGESTS "redis-server")
set(CPACK_COMPONENT_REDLOCK_DEVELOPMENT_DESCRIPTION
  "These are the headers and the static library.
For programs in C++20, by find_package(redlock) of CMake or by pkg-config.")

# quorum-lock is linked with the static library, so it depends on no other package of ours.
set(CPACK_DEBIAN_REDLOCK_TOOL_PACKAGE_NAME quorum-lock)
set(CPACK_DEBIAN_REDLOCK_TOOL_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_REDLOCK_TOOL_PACKAGE_SUGGESTS "redis-server")
set(CPACK_COMPONENT_REDLOCK_TOOL_DESCRIPTION
  "This is the command line.
Runs commands under a lock or as an elected leader, inspects locks, checks
nodes. The option --local needs redis-server.")

# Files that Debian's policy demands in each package, and that no other installation needs. They are
# added to the installed files before the packages are made.
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/tools/packaging/debian/files.cmake")
set(CPACK_REDLOCK_SOURCE_DIR "${PROJECT_SOURCE_DIR}")

include(CPack)
