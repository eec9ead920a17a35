# install.cmake - the files that `make install` installs: the library, its headers, the program, and the
# files with which pkg-config and find_package(cairn) find them.
include(CMakePackageConfigHelpers)

set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/cairn)

install(TARGETS cairn EXPORT cairnTargets)
install(TARGETS cairn_program cairn_check RUNTIME)
install(DIRECTORY include/cairn TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(EXPORT cairnTargets NAMESPACE cairn:: DESTINATION ${config_folder})

configure_package_config_file(cmake/cairnConfig.cmake.in cairnConfig.cmake
                              INSTALL_DESTINATION ${config_folder})
# before 1.0 a minor version may change the interface
write_basic_package_version_file(cairnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cairnConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/cairnConfigVersion.cmake
              cmake/FindSuiteSparse.cmake
        DESTINATION ${config_folder})

# A static library needs its dependencies at the user's link; a shared one brings its own.
set(CAIRN_PC_REQUIRES "")
set(CAIRN_PC_LIBS "")
if(NOT BUILD_SHARED_LIBS)
  set(CAIRN_PC_REQUIRES "yaml-0.1, qhull_r, zlib")
  set(CAIRN_PC_LIBS " ${UMFPACK_LIBRARY} ${CHOLMOD_LIBRARY} ${OpenMP_C_FLAGS} ${CMAKE_THREAD_LIBS_INIT} -ldl -lm")
  if(CAIRN_MPI)
    list(JOIN MPI_C_LIBRARIES " " libraries)
    string(APPEND CAIRN_PC_LIBS " ${libraries}")
  endif()
  pkg_check_modules(HDF5_PC QUIET hdf5)
  if(HDF5_PC_FOUND)
    string(APPEND CAIRN_PC_REQUIRES ", hdf5")
  else()
    list(JOIN HDF5_C_LIBRARIES " " libraries)
    string(PREPEND CAIRN_PC_LIBS " ${libraries}")
  endif()
endif()
file(RELATIVE_PATH CAIRN_PC_PREFIX /x/${CMAKE_INSTALL_LIBDIR}/pkgconfig /x)
configure_file(cmake/cairn.pc.in cairn.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cairn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Programs are linked with the path to libraries that they have when installed: a path that CMake
# replaces at the installation would end in an empty entry, which means the current folder. An HDF5
# outside the system's folders is found where it was at the build.
set_target_properties(cairn cairn_program cairn_check PROPERTIES
  BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ON)

# The program of a shared build finds the library next to it, wherever both were installed; so in
# the build tree, where the program is in tools/, it lies in the same place as seen from there.
if(BUILD_SHARED_LIBS)
  file(RELATIVE_PATH library_from_program ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(cairn_program PROPERTIES INSTALL_RPATH "$ORIGIN/${library_from_program}")
  cmake_path(ABSOLUTE_PATH library_from_program BASE_DIRECTORY ${PROJECT_BINARY_DIR}/tools NORMALIZE
             OUTPUT_VARIABLE place)
  cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${place}" NORMALIZE inside)
  if(inside)
    set_target_properties(cairn PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${place})
  endif()
endif()
