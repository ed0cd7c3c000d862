# Embeds FOLDER/*.lua in one generated header. Where a line of a script is "-- with: NAME",
# FOLDER/parts/NAME.lua comes in its place. For release.lua,
#   inline constexpr Script release{"release", R"lua(…)lua", "<SHA-1 of the text>"};
# in namespace redlock::redis::scripts, and all_scripts, an array of them all.
#
# Two roles: include()d it defines redlock_embed_scripts(); run by `cmake -P` it writes the header.

if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(redlock_embed_scripts_file "${CMAKE_CURRENT_LIST_FILE}")

  function(redlock_embed_scripts target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER;HEADER" "")
    file(GLOB scripts CONFIGURE_DEPENDS "${arg_FOLDER}/*.lua")
    file(GLOB parts CONFIGURE_DEPENDS "${arg_FOLDER}/parts/*.lua")
    set(header "${PROJECT_BINARY_DIR}/generated/${arg_HEADER}")
    add_custom_command(
      OUTPUT "${header}"
      COMMAND "${CMAKE_COMMAND}" "-DHEADER=${header}" "-DSCRIPTS=${scripts}"
              -P "${redlock_embed_scripts_file}"
      DEPENDS ${scripts} ${parts} "${redlock_embed_scripts_file}"
      COMMENT "Embedding the Lua scripts"
      VERBATIM)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "INTERFACE_LIBRARY")
      set(scope INTERFACE)
    else()
      set(scope PUBLIC)
      target_sources(${target} PRIVATE "${header}")
    endif()
    # Those who link the target may include the header, so it must exist before they compile.
    add_custom_target(${target}_scripts DEPENDS "${header}")
    add_dependencies(${target} ${target}_scripts)
    target_include_directories(${target} ${scope} "${PROJECT_BINARY_DIR}/generated")
  endfunction()
  return()
endif()

cmake_policy(VERSION 3.22)

set(reserved and asm auto break case catch char class const continue default delete do double else
    enum export extern false float for if inline int long namespace new not operator or private
    public register return short signed sizeof static struct switch template this throw true try
    typedef union unsigned using virtual void volatile while xor)

function(redlock_read_text file result)
  file(READ "${file}" text)
  file(SHA1 "${file}" sha1)
  string(SHA1 text_sha1 "${text}")
  if(NOT text_sha1 STREQUAL sha1)
    message(FATAL_ERROR "${file}: not a plain text file")
  endif()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

set(definitions "")
set(names "")
foreach(script IN LISTS SCRIPTS)
  get_filename_component(file_name "${script}" NAME_WE)
  string(MAKE_C_IDENTIFIER "${file_name}" name)
  if(name IN_LIST reserved)
    string(APPEND name "_")
  endif()
  # The server hashes the bytes it is sent. Whatever could make the literal differ from the files is
  # refused here; the hash of what was read is compared with the hash of the file.
  redlock_read_text("${script}" text)
  while(text MATCHES "-- with: ([a-z]+)\n")
    set(line "${CMAKE_MATCH_0}")
    get_filename_component(folder "${script}" DIRECTORY)
    redlock_read_text("${folder}/parts/${CMAKE_MATCH_1}.lua" part)
    string(REPLACE "${line}" "${part}" text "${text}")
  endwhile()
  string(SHA1 sha1 "${text}")
  string(FIND "${text}" ")lua\"" delimiter)
  string(FIND "${text}" "\r" carriage_return)
  if(NOT delimiter EQUAL -1 OR NOT carriage_return EQUAL -1)
    message(FATAL_ERROR "${script}: contains )lua\" or a carriage return")
  endif()
  string(LENGTH "${text}" size)  # in bytes
  string(APPEND definitions
    "inline constexpr Script ${name}{\"${file_name}\", R\"lua(${text})lua\",\n"
    "    \"${sha1}\"};\n"
    "static_assert(${name}.text.size() == ${size});\n\n")
  list(APPEND names "${name}")
endforeach()
list(LENGTH names count)
list(JOIN names ", " names)

file(WRITE "${HEADER}" "// Generated from lib/redis/scripts by lib/cmake/EmbedScripts.cmake.
#pragma once

#include <array>
#include <string_view>

namespace redlock::redis::scripts {

struct Script {
  std::string_view name;
  std::string_view text;
  std::string_view sha1;
};

${definitions}inline constexpr std::array<Script, ${count}> all_scripts{${names}};

}  // namespace redlock::redis::scripts
")
