# C sources that are generated from other files of the project.
set(redlock_root "${CMAKE_CURRENT_LIST_DIR}/../..")

# redlock_extract_c_example(variable): the first example of the page for C, which is a program.
function(redlock_extract_c_example variable)
  set(page "${redlock_root}/tools/docs/C.md")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${page}")
  file(READ "${page}" text)
  if(NOT text MATCHES "```c\n(([^`]|`[^`])*)```")
    message(FATAL_ERROR "no program was found in ${page}")
  endif()
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/example.c" CONTENT "${CMAKE_MATCH_1}" @ONLY)
  set(${variable} "${CMAKE_CURRENT_BINARY_DIR}/example.c" PARENT_SCOPE)
endfunction()

# redlock_list_c_functions(variable): a table of all functions that redlock.h declares. A program with
# it is linked only if the library has them all.
function(redlock_list_c_functions variable)
  set(header "${redlock_root}/include/redlock.h")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${header}")
  file(READ "${header}" text)
  string(REGEX MATCHALL "REDLOCK_C_(EXPORT|CHECKED)[^;(]*redlock_[a-z0-9_]+\\(" functions "${text}")
  list(TRANSFORM functions REPLACE ".*[^a-z0-9_](redlock_[a-z0-9_]+)\\($" "  (any_function)\\1,\n")
  if(NOT functions)
    message(FATAL_ERROR "no function was found in ${header}")
  endif()
  list(JOIN functions "" functions)
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/functions.c" @ONLY CONTENT
    "#include <redlock.h>\n
typedef void (*any_function)(void);\n
const any_function redlock_functions[] = {\n${functions}};\n")
  set(${variable} "${CMAKE_CURRENT_BINARY_DIR}/functions.c" PARENT_SCOPE)
endfunction()
