#!/bin/sh
# A unit, a source compiled for one width of registers (src/units.cmake), defines nothing that others
# can call but its table, of which it has the name: a function compiled for AVX-512 that the linker
# took for one of another file would stop a machine without AVX-512.
set -eu
found=0
for object in $(find "$CAIRN_BINARY_DIR/src" -path '*_avx*.dir/*.o'); do
    name=${object#*/CMakeFiles/} name=${name%%.dir/*}
    source=${object#*.dir/}
    [ -f "$CAIRN_SOURCE_DIR/src/${source%.o}" ] || continue # left over: the source has moved
    defined=$(nm -g --defined-only "$object" | awk '$3 !~ /^__odr_asan/ { print $3 }')
    [ "$defined" = "$name" ] || {
        echo "$object defines $defined, expected $name alone"
        exit 1
    }
    found=$((found + 1))
done
# balls, general and plane in float and double, and the judge: for AVX2 and for AVX-512
[ $found = 14 ] || {
    echo "$found units were found, expected 14"
    exit 1
}
