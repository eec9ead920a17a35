# core.cmake - what a build without file formats (-DCAIRN_FILES=OFF) links with. Qhull and SuiteSparse are
# used where they are installed; without them hulls of points and solvers that factorise are refused when
# they are asked for. For machines that are borrowed to compute, see scripts/test-cuda.
if(CAIRN_MPI)
  message(FATAL_ERROR "CAIRN_MPI is ON and CAIRN_FILES is OFF: ranks share scenes and run files, expected CAIRN_FILES ON")
endif()
find_package(PkgConfig QUIET)
find_package(SuiteSparse MODULE QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(QHULL QUIET IMPORTED_TARGET qhull_r)
endif()
foreach(package IN ITEMS SuiteSparse QHULL)
  if(NOT ${package}_FOUND)
    message(STATUS "core: ${package} is not installed; what needs it is refused when it is asked for")
  endif()
endforeach()
