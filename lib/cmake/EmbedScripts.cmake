# Embeds FOLDER/*.lua in one generated header. A script begins with its signature; that of
# break_lock.lua is
#   -- keys: resource
#   -- args: token, delay_ms, keeper
# The names are in the order in which a call sends keys and arguments. A name with a unit ends with
# it. The script reads keys.resource and args.token. The embedded text has KEYS[1] and ARGV[1]
# instead, so a name costs a node nothing. Lua locals for the arguments would cost a node up to a
# tenth of the time of a release.
#   none          no keys, or no arguments
#   permits?      an argument that a call can leave out, with all that follow it
#   ticket|why?   two meanings of such an argument: a call gives one of them at most
#   resources...  the last name of the keys: any number of them, one at least. If there are no other
#                 keys, keys.resources is KEYS. Otherwise, keys.resources.first is the first index in
#                 KEYS.
#   tokens...     the first name of the arguments, if all keys have one name with dots: one argument
#                 for each key. args.tokens is ARGV.
#
# The text of FOLDER/parts/NAME.lua replaces the line "-- with: NAME". Parts are functions: they
# have parameters, and read neither keys nor arguments.
#
# Comment lines and empty lines are not embedded: they would be a third of the bytes that a node is
# sent, and a new comment would make a new script.
#
# For break_lock.lua, the header has in namespace redlock::redis::scripts
#   inline constexpr Script break_lock{"break_lock", R"lua(…)lua", "<SHA-1 of the text>"};
#   struct BreakLock { Word resource; Word token; Word delay_ms; Word keeper; operator Call() const; };
# and all_scripts, an array of all scripts. lib/redis/values/script.hpp declares Script, Word and Call.
#
# This file has two roles: include()d, it defines redlock_embed_scripts(); run by `cmake -P`, it writes
# the header.

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
    # Targets that link this one may include the header, so it must exist before they compile.
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

# Prints the refusal on one line: CMake does not wrap a text that begins with a space.
macro(redlock_refuse script line)
  string(CONCAT refusal ${ARGN})
  message(FATAL_ERROR " ${script}:${line}: ${refusal}")
endmacro()

function(redlock_read_text file result)
  file(READ "${file}" text)
  file(SHA1 "${file}" sha1)
  string(SHA1 text_sha1 "${text}")
  if(NOT text_sha1 STREQUAL sha1)
    message(FATAL_ERROR " ${file}: not a plain text file")
  endif()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# The number of the line at this position of the text.
function(redlock_line_of text position result)
  string(SUBSTRING "${text}" 0 ${position} before)
  string(REGEX MATCHALL "\n" ends "${before}")
  list(LENGTH ends line)
  math(EXPR line "${line} + 1")
  set(${result} ${line} PARENT_SCOPE)
endfunction()

# Reads one line of a head. `what` is "keys" or "args". Sets, in the caller,
#   <what>_places             its names in their order, as written
#   text_of.<what>.NAME       the embedded text for <what>.NAME
#   text_of.keys.NAME.first   the embedded text for keys.NAME.first, if NAME is any number of keys
#   all_names                 the names from before, and these
function(redlock_read_head script line_number what line)
  if(what STREQUAL "keys")
    set(array KEYS)
  else()
    set(array ARGV)
  endif()
  if(NOT line MATCHES "^-- ${what}: ([^;]+)$")
    redlock_refuse("${script}" ${line_number}
      "a script begins with \"-- keys: …\" and \"-- args: …\", each with names or none")
  endif()
  set(written "${CMAKE_MATCH_1}")
  set(places "")
  set(place 0)
  set(optional FALSE)
  set(many FALSE)
  if(NOT written STREQUAL "none")
    string(REPLACE ", " ";" places "${written}")
  endif()
  foreach(entry IN LISTS places)
    math(EXPR place "${place} + 1")
    if(NOT entry MATCHES "^[a-z][a-z0-9_]*(\\|[a-z][a-z0-9_]*)?(\\?|\\.\\.\\.)?$")
      redlock_refuse("${script}" ${line_number} "\"${entry}\" is no name of ${what}")
    endif()
    set(mark "${CMAKE_MATCH_2}")
    if(CMAKE_MATCH_1 AND NOT mark STREQUAL "?")
      redlock_refuse("${script}" ${line_number}
        "\"${entry}\": only an argument that may be left out has two meanings")
    endif()
    if(many AND what STREQUAL "keys")
      redlock_refuse("${script}" ${line_number}
        "\"${entry}\" comes after keys of which there can be many")
    elseif(mark STREQUAL "?" AND what STREQUAL "keys")
      redlock_refuse("${script}" ${line_number} "\"${entry}\": a key cannot be left out")
    elseif(optional AND NOT mark STREQUAL "?")
      redlock_refuse("${script}" ${line_number}
        "\"${entry}\" comes after an argument that may be left out")
    elseif(mark STREQUAL "..." AND what STREQUAL "args"
           AND NOT (place EQUAL 1 AND keys_places MATCHES "^[a-z0-9_]+\\.\\.\\.$"))
      redlock_refuse("${script}" ${line_number}
        "\"${entry}\" is not the first argument, or there is not a key for each")
    endif()
    if(many)
      math(EXPR after "${place} - 1")
      set(stands_for "ARGV[#KEYS + ${after}]")
    elseif(NOT mark STREQUAL "...")
      set(stands_for "${array}[${place}]")
    elseif(place EQUAL 1)
      set(stands_for "${array}")
    else()
      set(stands_for "")
    endif()
    if(mark STREQUAL "?")
      set(optional TRUE)
    elseif(mark STREQUAL "...")
      set(many TRUE)
    endif()
    string(REGEX MATCHALL "[a-z0-9_]+" meanings "${entry}")
    foreach(name IN LISTS meanings)
      if(name IN_LIST all_names OR name IN_LIST reserved OR name STREQUAL "none")
        redlock_refuse("${script}" ${line_number} "\"${name}\" is there already, or a word of C++")
      endif()
      list(APPEND all_names ${name})
      set(text_of.${what}.${name} "${stands_for}" PARENT_SCOPE)
      if(mark STREQUAL "..." AND what STREQUAL "keys")
        set(text_of.keys.${name}.first ${place} PARENT_SCOPE)
      endif()
    endforeach()
  endforeach()
  set(${what}_places "${places}" PARENT_SCOPE)
  set(all_names "${all_names}" PARENT_SCOPE)
endfunction()

# Replaces the names in a script's text by the words that they stand for.
function(redlock_put_in_places script text result)
  set(done "")
  set(rest "${text}")
  set(used "")
  while(rest MATCHES "([^A-Za-z0-9_])(keys|args)\\.([A-Za-z0-9_]+)(\\.[A-Za-z0-9_]+)?")
    set(found "${CMAKE_MATCH_0}")
    set(before "${CMAKE_MATCH_1}")
    set(what "${CMAKE_MATCH_2}")
    set(name "${CMAKE_MATCH_3}")
    set(member "${CMAKE_MATCH_4}")  # .first
    string(FIND "${rest}" "${found}" at)
    string(SUBSTRING "${rest}" 0 ${at} passed)
    string(APPEND done "${passed}${before}")
    set(stands_for "${text_of.${what}.${name}${member}}")
    if("${stands_for}" STREQUAL "")
      string(LENGTH "${text}" size)
      string(LENGTH "${rest}" left)
      math(EXPR position "${size} - ${left} + ${at} + 1")
      redlock_line_of("${text}" ${position} line)
      list(JOIN ${what}_places ", " known)
      redlock_refuse("${script}" ${line}
        "${what}.${name}${member} is not in the head, which has: ${known}")
    endif()
    string(APPEND done "${stands_for}")
    list(APPEND used ${name})
    string(LENGTH "${found}" length)
    math(EXPR at "${at} + ${length}")
    string(SUBSTRING "${rest}" ${at} -1 rest)
  endwhile()
  foreach(name IN LISTS all_names)
    if(NOT name IN_LIST used)
      redlock_refuse("${script}" 1 "the script does not read \"${name}\"")
    endif()
  endforeach()
  set(${result} "${done}${rest}" PARENT_SCOPE)
endfunction()

# Drops comment lines and empty lines.
function(redlock_drop_comments script text result)
  if(text MATCHES "\\[=*\\[")
    redlock_refuse("${script}" 1 "long brackets: such a text can have lines that look like comments")
  endif()
  string(REGEX REPLACE "\n *--[^\n]*" "" text "\n${text}")
  string(REGEX REPLACE "\n[\n ]*\n" "\n" text "${text}")
  string(REGEX REPLACE "^\n" "" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# Refuses a script that reads a key or an argument other than by its name.
function(redlock_check_names_only script text pattern)
  if("${text}" MATCHES "${pattern}")
    string(FIND "${text}" "${CMAKE_MATCH_0}" at)
    math(EXPR at "${at} + 1")
    redlock_line_of("${text}" ${at} line)
    redlock_refuse("${script}" ${line} "${CMAKE_MATCH_1} is not read by a name of the head")
  endif()
endfunction()

# Writes the struct whose fields are the names of the head.
function(redlock_struct_of script_name result)
  string(REPLACE "_" ";" parts "${file_name}")
  set(type "")
  foreach(part IN LISTS parts)
    string(SUBSTRING "${part}" 0 1 initial)
    string(SUBSTRING "${part}" 1 -1 others)
    string(TOUPPER "${initial}" initial)
    string(APPEND type "${initial}${others}")
  endforeach()
  list(LENGTH keys_places key_count)
  set(fields "")
  set(words "")
  foreach(entry IN LISTS keys_places args_places)
    string(REGEX MATCHALL "[a-z0-9_]+" meanings "${entry}")
    foreach(name IN LISTS meanings)
      if(entry MATCHES "\\.\\.\\.$")
        string(APPEND fields "  Several ${name};\n")
      elseif(entry MATCHES "\\?$")
        string(APPEND fields "  Optional ${name}{};\n")
      else()
        string(APPEND fields "  Word ${name};\n")
      endif()
    endforeach()
    list(JOIN meanings ", " meanings)
    string(APPEND words "    call.add(${meanings});\n")
  endforeach()
  if(keys_places MATCHES "([a-z0-9_]+)\\.\\.\\.$")
    set(key_count "${key_count} - 1 + ${CMAKE_MATCH_1}.size()")
  endif()
  set(${result} "struct ${type} {\n${fields}
  operator Call() const {
    Call call(scripts::${script_name}, ${key_count});
${words}    return call;
  }
};\n\n" PARENT_SCOPE)
endfunction()

# Appends one script's part of the header to `definitions`, and its name to `names`.
function(redlock_embed_script script)
  get_filename_component(file_name "${script}" NAME_WE)
  string(MAKE_C_IDENTIFIER "${file_name}" name)
  if(name IN_LIST reserved)
    string(APPEND name "_")
  endif()
  # The server hashes the bytes that it is sent. Everything that could make the literal differ from
  # the files is refused here; the hash of the text is compared with the hash of the file.
  redlock_read_text("${script}" text)
  set(all_names "")
  string(REGEX MATCH "^([^\n]*)\n([^\n]*)\n" head "${text}")
  set(keys_line "${CMAKE_MATCH_1}")
  set(args_line "${CMAKE_MATCH_2}")
  redlock_read_head("${script}" 1 keys "${keys_line}")
  redlock_read_head("${script}" 2 args "${args_line}")
  # For any number of keys after other keys: the script reads them by their index.
  if(keys_places MATCHES ";.*\\.\\.\\.$")
    redlock_check_names_only("${script}" "${text}" "[^A-Za-z0-9_](ARGV|KEYS\\[ *[0-9]+ *\\])")
  else()
    redlock_check_names_only("${script}" "${text}" "[^A-Za-z0-9_](ARGV|KEYS)")
  endif()
  redlock_put_in_places("${script}" "${text}" text)
  redlock_struct_of("${name}" call)
  while(text MATCHES "-- with: ([a-z]+)\n")
    set(line "${CMAKE_MATCH_0}")
    get_filename_component(folder "${script}" DIRECTORY)
    set(part_file "${folder}/parts/${CMAKE_MATCH_1}.lua")
    redlock_read_text("${part_file}" part)
    redlock_check_names_only("${part_file}" "${part}"
      "[^A-Za-z0-9_](ARGV|KEYS|(keys|args)\\.[a-z0-9_]+)")
    string(REPLACE "${line}" "${part}" text "${text}")
  endwhile()
  redlock_drop_comments("${script}" "${text}" text)
  string(SHA1 sha1 "${text}")
  string(FIND "${text}" ")lua\"" delimiter)
  string(FIND "${text}" "\r" carriage_return)
  if(NOT delimiter EQUAL -1 OR NOT carriage_return EQUAL -1)
    message(FATAL_ERROR " ${script}: contains )lua\" or a carriage return")
  endif()
  string(LENGTH "${text}" size)  # in bytes
  string(APPEND definitions
    "inline constexpr Script ${name}{\"${file_name}\", R\"lua(${text})lua\",\n"
    "    \"${sha1}\"};\n"
    "static_assert(${name}.text.size() == ${size});\n\n"
    "${call}")
  list(APPEND names "${name}")
  set(definitions "${definitions}" PARENT_SCOPE)
  set(names "${names}" PARENT_SCOPE)
endfunction()

set(definitions "")
set(names "")
foreach(script IN LISTS SCRIPTS)
  redlock_embed_script("${script}")
endforeach()
list(LENGTH names count)
list(JOIN names ", " names)

file(WRITE "${HEADER}" "// Generated from lib/redis/scripts by lib/cmake/EmbedScripts.cmake.
#pragma once

#include <array>

#include \"redis/values/script.hpp\"

namespace redlock::redis::scripts {

${definitions}inline constexpr std::array<Script, ${count}> all_scripts{${names}};

}  // namespace redlock::redis::scripts
")
