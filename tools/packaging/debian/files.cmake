# Run by cpack for all packages, between installing their files and packing them.
set(packages
  redlock_library "${CPACK_DEBIAN_REDLOCK_LIBRARY_PACKAGE_NAME}"
  redlock_development "${CPACK_DEBIAN_REDLOCK_DEVELOPMENT_PACKAGE_NAME}"
  redlock_tool "${CPACK_DEBIAN_REDLOCK_TOOL_PACKAGE_NAME}")
while(packages)
  list(POP_FRONT packages component package)
  execute_process(COMMAND_ERROR_IS_FATAL ANY
    COMMAND "${CPACK_REDLOCK_SOURCE_DIR}/tools/packaging/debian/files"
      "${CPACK_TEMPORARY_DIRECTORY}/${component}" "${package}"
      "${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}" "${CPACK_PACKAGE_CONTACT}")
endwhile()
