# Finds libuv, hiredis, OpenSSL and threads. Shared by the build and by the installed package, which
# needs them for the static library only. Neither libuv nor hiredis installs CMake files everywhere,
# all distributions install their .pc files.

macro(redlock_find_dependencies redlock_mode)
  set(redlock_dependencies_missing "")
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    foreach(redlock_module IN ITEMS libuv hiredis)
      if(NOT TARGET PkgConfig::redlock_${redlock_module})
        # Package managers that have libuv only as a static library name its file libuv-static.pc.
        pkg_search_module(redlock_${redlock_module} QUIET IMPORTED_TARGET GLOBAL
          ${redlock_module} ${redlock_module}-static)
      endif()
      if(NOT TARGET PkgConfig::redlock_${redlock_module})
        list(APPEND redlock_dependencies_missing ${redlock_module})
      endif()
    endforeach()
    if(TARGET PkgConfig::redlock_hiredis)
      # hiredis' .pc file points into the folder of its headers, which are included as <hiredis/…>,
      # and defines a macro that no header reads.
      pkg_get_variable(redlock_hiredis_includedir hiredis includedir)
      get_filename_component(redlock_hiredis_includedir "${redlock_hiredis_includedir}" REALPATH)
      string(REGEX REPLACE "/hiredis$" "" redlock_hiredis_includedir
        "${redlock_hiredis_includedir}")
      set_target_properties(PkgConfig::redlock_hiredis PROPERTIES
        INTERFACE_COMPILE_OPTIONS ""
        INTERFACE_INCLUDE_DIRECTORIES "${redlock_hiredis_includedir}")
    endif()
  else()
    list(APPEND redlock_dependencies_missing pkg-config)
  endif()
  find_package(OpenSSL 3.0 QUIET)
  if(NOT OpenSSL_FOUND)
    list(APPEND redlock_dependencies_missing openssl)
  endif()
  find_package(Threads QUIET)
  if(NOT Threads_FOUND)
    list(APPEND redlock_dependencies_missing threads)
  endif()
  if("${redlock_mode}" STREQUAL "REQUIRED" AND redlock_dependencies_missing)
    list(JOIN redlock_dependencies_missing ", " redlock_dependencies_missing)
    message(FATAL_ERROR "redlock needs: ${redlock_dependencies_missing}. "
                        "On Debian, tools/install-packages build installs all it needs.")
  endif()
endmacro()
