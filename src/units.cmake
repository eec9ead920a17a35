# units.cmake - sources that are compiled more than once: for float and double, and for registers of
# 16, 32 and 64 bytes. Each compilation is a unit. It exports one const table of functions, whose
# name it is told (CAIRN_UNIT); all else in it is static, so that nothing compiled for AVX-512 runs
# on a machine that does not have it. math/width.h and math/simd.h make their types of
# CAIRN_REAL_BYTES and CAIRN_REGISTER_BYTES. Takes the sources out of `sources` and adds the units to
# `units`.
set(flags_of_baseline "")
set(flags_of_avx2 "")
set(flags_of_avx512 "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(flags_of_avx2 -mavx2)
  set(flags_of_avx512 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512)
endif()

# One unit: the table `name`, of `source`. Further arguments are flags of the compiler.
set(units)
macro(cairn_unit name source)
  list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  add_library(${name} OBJECT ${source})
  set_target_properties(${name} PROPERTIES C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE CAIRN_UNIT=${name})
  target_compile_options(${name} PRIVATE ${ARGN})
  target_link_libraries(${name} PRIVATE cairn_options)
  list(APPEND units $<TARGET_OBJECTS:${name}>)
endmacro()

# The same source for each register, in numbers of so many bytes.
macro(cairn_units_by_width name source real)
  foreach(width IN ITEMS baseline:16 avx2:32 avx512:64)
    string(REPLACE ":" ";" width ${width})
    list(POP_FRONT width set register)
    cairn_unit(${name}_${set} ${source} ${flags_of_${set}}
      -DCAIRN_REAL_BYTES=${real} -DCAIRN_REGISTER_BYTES=${register})
  endforeach()
endmacro()

foreach(number IN ITEMS f32:4 f64:8)
  string(REPLACE ":" ";" number ${number})
  list(POP_FRONT number type bytes)
  cairn_units_by_width(cairn_batch_${type} backend/host/batch_sweep.c ${bytes})
  cairn_units_by_width(cairn_general_${type} backend/host/batch_general_sweep.c ${bytes})
  cairn_units_by_width(cairn_plane_${type} backend/host/batch_plane_sweep.c ${bytes})
  cairn_unit(cairn_sweeps_${type} backend/host/batch_state.c -DCAIRN_REAL_BYTES=${bytes})
  cairn_unit(cairn_sweeps_general_${type} backend/host/batch_general_state.c -DCAIRN_REAL_BYTES=${bytes})
  cairn_unit(cairn_sweeps_plane_${type} backend/host/batch_plane_state.c -DCAIRN_REAL_BYTES=${bytes})
endforeach()
cairn_units_by_width(cairn_judges problem/judge_lanes.c 8)
