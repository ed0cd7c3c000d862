# Makes one CTest test for each GoogleTest suite. With a test for each case, as
# gtest_discover_tests() makes them, each case would start the servers of its suite. A test for each
# executable would say too little when it fails. ctest asks the executable for its suites when it
# starts, so no suite can be forgotten.
#
# This file has two roles: include()d, it defines redlock_discover_suites(); included by ctest with
# REDLOCK_SUITES_OF set, it declares the tests.

if(NOT DEFINED REDLOCK_SUITES_OF)
  set(redlock_discover_suites_file "${CMAKE_CURRENT_LIST_FILE}")

  function(redlock_discover_suites target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;TIMEOUT;PROCESSORS;ENVIRONMENT"
      "WAITING;BUSY;LONG;CORE;FIRST")
    set(file "${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake")
    file(GENERATE OUTPUT "${file}" CONTENT "\
set(REDLOCK_SUITES_OF [==[$<TARGET_FILE:${target}>]==])
set(REDLOCK_SUITES_LABEL [==[${arg_LABEL}]==])
set(REDLOCK_SUITES_PROPERTIES TIMEOUT ${arg_TIMEOUT}
  PROCESSORS ${arg_PROCESSORS} ENVIRONMENT [==[${arg_ENVIRONMENT}]==])
set(REDLOCK_SUITES_WAITING [==[${arg_WAITING}]==])
set(REDLOCK_SUITES_BUSY [==[${arg_BUSY}]==])
set(REDLOCK_SUITES_LONG [==[${arg_LONG}]==])
set(REDLOCK_SUITES_CORE [==[${arg_CORE}]==])
set(REDLOCK_SUITES_FIRST [==[${arg_FIRST}]==])
include([==[${redlock_discover_suites_file}]==])
unset(REDLOCK_SUITES_OF)
")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${file}")
  endfunction()
  return()
endif()

# ctest sets no policies, so there is no if(… IN_LIST …).
function(redlock_is_in result element)
  list(FIND ARGN "${element}" index)
  if(index EQUAL -1)
    set(${result} OFF PARENT_SCOPE)
  else()
    set(${result} ON PARENT_SCOPE)
  endif()
endfunction()

get_filename_component(program "${REDLOCK_SUITES_OF}" NAME)
if(NOT EXISTS "${REDLOCK_SUITES_OF}")
  # A test that fails when run; its name says why.
  add_test(${program}_IS_NOT_BUILT "${REDLOCK_SUITES_OF}")
  set_tests_properties(${program}_IS_NOT_BUILT PROPERTIES LABELS "${REDLOCK_SUITES_LABEL}")
  return()
endif()

execute_process(COMMAND "${REDLOCK_SUITES_OF}" --gtest_list_tests
  OUTPUT_VARIABLE listing ERROR_VARIABLE listing_error RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${program} --gtest_list_tests: ${result}\n${listing}${listing_error}")
endif()
string(REPLACE ";" "," listing "${listing}")
string(REPLACE "\n" ";" listing "${listing}")
foreach(line IN LISTS listing)
  # "Suite.", "Prefix/Suite." and "Suite/0.  # TypeParam = int" begin at the margin, cases do not.
  if(line MATCHES "^([A-Za-z0-9_/]+)\\.( .*)?$")
    set(suite "${CMAKE_MATCH_1}")
    list(GET REDLOCK_SUITES_LABEL 0 layer)
    set(name "${layer}.${suite}")
    add_test(${name} "${REDLOCK_SUITES_OF}" "--gtest_filter=${suite}.*" --gtest_color=no)
    set_tests_properties(${name} PROPERTIES
      LABELS "${REDLOCK_SUITES_LABEL}" ${REDLOCK_SUITES_PROPERTIES})
    redlock_is_in(waiting "${suite}" ${REDLOCK_SUITES_WAITING})
    redlock_is_in(busy "${suite}" ${REDLOCK_SUITES_BUSY})
    redlock_is_in(long "${suite}" ${REDLOCK_SUITES_LONG})
    redlock_is_in(core "${suite}" ${REDLOCK_SUITES_CORE})
    redlock_is_in(first "${suite}" ${REDLOCK_SUITES_FIRST})
    if(waiting)
      set_tests_properties(${name} PROPERTIES PROCESSORS 1)
    elseif(busy)
      set_tests_properties(${name} PROPERTIES PROCESSORS 8)
    endif()
    if(waiting OR first)
      set_tests_properties(${name} PROPERTIES COST 100)
    endif()
    if(long OR (REDLOCK_SUITES_CORE AND NOT core))
      set_tests_properties(${name} PROPERTIES LABELS "${layer};long")
    endif()
  endif()
endforeach()
