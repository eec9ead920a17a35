# install.cmake - what `make install` puts where: the library, its headers, the program, and the
# files by which pkg-config and find_package(cairn) find them.
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
              cmake/FindCHOLMOD.cmake
              cmake/FindUMFPACK.cmake
        DESTINATION ${config_folder})

# A static library needs its dependencies at the user's link; a shared one brings its own.
set(CAIRN_PC_REQUIRES "")
set(CAIRN_PC_LIBS "")
if(NOT BUILD_SHARED_LIBS)
  set(CAIRN_PC_REQUIRES "yaml-0.1, qhull_r, zlib")
  set(CAIRN_PC_LIBS " ${UMFPACK_LIBRARY} ${CHOLMOD_LIBRARY} ${OpenMP_C_FLAGS} ${CMAKE_THREAD_LIBS_INIT} -lm")
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

# The program of a shared build finds the library next to it, wherever both were installed.
file(RELATIVE_PATH library_from_program ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(cairn_program PROPERTIES INSTALL_RPATH "$ORIGIN/${library_from_program}")
# an HDF5 outside the system's folders is found where it was at the build
set_target_properties(cairn cairn_program cairn_check PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
