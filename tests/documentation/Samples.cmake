# redlock_extract_samples(variable): the sources that are made of the C++ of the pages, in the folder
# samples of this build; sets `guides`, too: the pages that also have commands.
function(redlock_extract_samples variable)
  set(here "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  set(root "${here}/../..")
  file(GLOB guides CONFIGURE_DEPENDS "${root}/tools/docs/pages/*.md")
  set(pages ${guides})
  foreach(page IN ITEMS README.md tests/examples/LOCKS.md tools/docs/REFERENCE.md tools/docs/CLI.md
      tools/docs/CPP.md)
    list(APPEND pages "${root}/${page}")
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${pages} "${here}/extract_samples")
  execute_process(
    COMMAND "${here}/extract_samples" "${CMAKE_CURRENT_BINARY_DIR}/samples" ${pages}
    OUTPUT_VARIABLE samples OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" samples "${samples}")
  if(NOT samples)
    message(FATAL_ERROR "no C++ was found in ${pages}")
  endif()
  set(guides "${guides}" PARENT_SCOPE)
  set(${variable} "${samples}" PARENT_SCOPE)
endfunction()
