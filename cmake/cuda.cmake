# cuda.cmake - the back end "cuda", a plug-in: src/backend/cuda/cuda.cu. nvcc compiles it for cards
# (-DCAIRN_CUDA=ON, `make cuda`); a C++ compiler makes a virtual device of the same text, for the tests.

# A plug-in of that unit: `name` is cuda or virtual-cuda, `folder` where the shared object goes.
function(cairn_cuda_plugin name folder)
  set(unit ${PROJECT_SOURCE_DIR}/src/backend/cuda/cuda.cu)
  add_library(cairn_backend_${name} MODULE ${unit})
  target_include_directories(cairn_backend_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_compile_definitions(cairn_backend_${name} PRIVATE _GNU_SOURCE)
  set_target_properties(cairn_backend_${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${folder}
    CXX_STANDARD 20 CXX_EXTENSIONS ON CXX_VISIBILITY_PRESET hidden
    CUDA_STANDARD 20 CUDA_VISIBILITY_PRESET hidden CUDA_RUNTIME_LIBRARY Static)
endfunction()

# The virtual device. Its sources are C and use what C++ has as extensions of GNU.
function(cairn_cuda_virtual folder)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/backend/cuda/cuda.cu PROPERTIES LANGUAGE CXX)
  cairn_cuda_plugin(virtual-cuda ${folder})
  target_compile_options(cairn_backend_virtual-cuda PRIVATE -ffp-contract=off -fno-math-errno
    -Wall -Wextra -Wno-missing-field-initializers -Wno-maybe-uninitialized -Wno-unknown-pragmas
    $<$<BOOL:${CAIRN_WARNINGS_AS_ERRORS}>:-Werror>
    $<$<BOOL:${CAIRN_SANITIZE}>:-fsanitize=address,undefined> $<$<BOOL:${CAIRN_SANITIZE}>:-fno-sanitize-recover=all>)
  if(CAIRN_SANITIZE)
    target_link_options(cairn_backend_virtual-cuda PRIVATE -fsanitize=address,undefined)
  endif()
endfunction()

# The real one: for the cards of today unless CMAKE_CUDA_ARCHITECTURES names others.
if(CAIRN_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80 90)
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(NOT CMAKE_CUDA_COMPILER)
    message(FATAL_ERROR "CAIRN_CUDA is ON, but there is no CUDA compiler: install the CUDA toolkit (12.4 or later) or set CMAKE_CUDA_COMPILER to its nvcc")
  endif()
  enable_language(CUDA)
  cairn_cuda_plugin(cuda ${PROJECT_BINARY_DIR}/backends)
  target_compile_options(cairn_backend_cuda PRIVATE --extended-lambda --diag-suppress=20040 -Xcompiler=-ffp-contract=off,-fopenmp)
  target_link_libraries(cairn_backend_cuda PRIVATE OpenMP::OpenMP_C)
  install(TARGETS cairn_backend_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/cairn)
endif()
