# redlock::testing for users' tests, with the shared library, or the static one if that is the only
# one; redlock::testing_static with the static one. Both add one archive, which sees what quorum-lock
# sees, and needs no further library.

# The sources that start private servers, for quorum-lock too.
set(redlock_server_sources
  servers/loopback_server.cpp servers/private_server.cpp system/child_process.cpp
  system/exec_plan.cpp system/platform_linux.cpp system/platform_posix.cpp)
list(TRANSFORM redlock_server_sources PREPEND "${PROJECT_SOURCE_DIR}/tools/common/")
redlock_choose_platform(redlock_server_sources)
add_library(redlock_servers OBJECT EXCLUDE_FROM_ALL ${redlock_server_sources})
redlock_configure_target(redlock_servers)
target_include_directories(redlock_servers PRIVATE "${PROJECT_SOURCE_DIR}/tools")

add_library(redlock_testing_archive STATIC "${PROJECT_SOURCE_DIR}/tools/testing/test_deployment.cpp"
  $<TARGET_OBJECTS:redlock_servers>)
redlock_configure_target(redlock_testing_archive)
set_target_properties(redlock_testing_archive PROPERTIES OUTPUT_NAME redlock-testing)
if(NOT REDLOCK_INSTALL)
  set_target_properties(redlock_testing_archive PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
target_include_directories(redlock_testing_archive PRIVATE
  "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/tools")
target_link_options(redlock_testing_archive INTERFACE -pthread)

function(redlock_add_testing name library)
  add_library(redlock_${name} INTERFACE)
  add_library(redlock::${name} ALIAS redlock_${name})
  set_target_properties(redlock_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(redlock_${name} INTERFACE redlock_testing_archive ${library})
endfunction()
if(TARGET redlock)
  redlock_add_testing(testing redlock)
else()
  redlock_add_testing(testing redlock_static)
endif()
if(TARGET redlock_static)
  redlock_add_testing(testing_static redlock_static)
endif()
