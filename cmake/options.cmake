# options.cmake - how every target of cairn is compiled.

# C17 with POSIX; the same bits from every compiler: no implicit fused multiply-add, no
# reordering of sums. -fno-math-errno changes no value, it only lets sqrt become one instruction.
add_library(cairn_options INTERFACE)
target_compile_features(cairn_options INTERFACE c_std_17)
target_compile_definitions(cairn_options INTERFACE _XOPEN_SOURCE=700)
target_compile_options(cairn_options INTERFACE
  -ffp-contract=off -fno-math-errno
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
  # fields that a table leaves out are zero on purpose
  -Wno-missing-field-initializers
  # error texts are truncated to their fields on purpose
  $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation>)
set(CMAKE_C_EXTENSIONS OFF)

# HDF5 names libraries that it may need and cairn does not: leave those out of the programs.
if(CMAKE_SYSTEM_NAME STREQUAL Linux)
  target_link_options(cairn_options INTERFACE LINKER:--as-needed)
endif()

if(CAIRN_WARNINGS_AS_ERRORS)
  target_compile_options(cairn_options INTERFACE -Werror)
endif()

# Programs are position independent, whatever the compiler's default is.
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Release builds are hardened; sanitizers find the same errors and are incompatible with it. None of
# this changes a computed bit. FORTIFY needs optimisation, which a debug build lacks.
if(NOT CAIRN_SANITIZE)
  target_compile_options(cairn_options INTERFACE -fstack-protector-strong
    $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
endif()
if(CMAKE_SYSTEM_NAME STREQUAL Linux)
  # full RELRO: all addresses of functions are found at the start, and then read-only
  target_link_options(cairn_options INTERFACE LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
endif()

if(CAIRN_SANITIZE)
  target_compile_options(cairn_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(cairn_options INTERFACE -fsanitize=address,undefined)
endif()
