# FindSuiteSparse - of SuiteSparse: CHOLMOD (sparse Cholesky factorisation), as CHOLMOD::CHOLMOD, and UMFPACK
# (sparse LU factorisation), as UMFPACK::UMFPACK.
include(FindPackageHandleStandardArgs)
foreach(name IN ITEMS CHOLMOD UMFPACK)
  string(TOLOWER ${name} file)
  find_path(${name}_INCLUDE_DIR ${file}.h PATH_SUFFIXES suitesparse)
  find_library(${name}_LIBRARY ${file})
  mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY)
endforeach()
find_package_handle_standard_args(SuiteSparse REQUIRED_VARS
  CHOLMOD_LIBRARY CHOLMOD_INCLUDE_DIR UMFPACK_LIBRARY UMFPACK_INCLUDE_DIR)
foreach(name IN ITEMS CHOLMOD UMFPACK)
  if(SuiteSparse_FOUND AND NOT TARGET ${name}::${name})
    add_library(${name}::${name} UNKNOWN IMPORTED)
    set_target_properties(${name}::${name} PROPERTIES
      IMPORTED_LOCATION "${${name}_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${${name}_INCLUDE_DIR}")
  endif()
endforeach()
