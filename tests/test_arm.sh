#!/bin/sh
# The kernels give the same bits on ARM (NEON registers) as on this machine: kernel_bits.c is built
# with the library, and for ARM with Debian's cross compiler; qemu runs that one. Skipped when they
# are not there (gcc-aarch64-linux-gnu, qemu-user).
set -eu
skip() {
    echo "skipped: $1"
    exit 77
}

[ "$CAIRN_SANITIZE" = ON ] && skip "sanitized builds are not for other machines"
cross=aarch64-linux-gnu-gcc
command -v $cross >/dev/null || skip "there is no $cross"
command -v qemu-aarch64 >/dev/null || skip "there is no qemu-aarch64"

# flags as in cmake/options.cmake
home=$CAIRN_BINARY_DIR/arm
mkdir -p "$home"
cd "$CAIRN_SOURCE_DIR"
build() {
    "$@" -O3 -DNDEBUG -std=c17 -D_XOPEN_SOURCE=700 -ffp-contract=off -fno-math-errno -fopenmp \
        -DCAIRN_VERSION='""' -Wall -Werror
}
build "$CC" -Iinclude -Isrc -Itests -o "$home/native" tests/kernel_bits.c "$CAIRN_LIBRARY" -lm

# for ARM what the kernels need, without what calls other libraries; and the units, as in
# src/units.cmake, without flags of x86
cd src/problem
flags="-I../../include -I.. -I../../tests"
unit() { # name, source, bytes of a number, bytes of a register
    build $cross $flags -c -o "$home/$1.o" "../$2" -DCAIRN_UNIT="$1" -DCAIRN_REAL_BYTES="$3" \
        -DCAIRN_REGISTER_BYTES="$4"
}
for number in f32:4 f64:8; do
    type=${number%:*} bytes=${number#*:}
    for width in baseline:16 avx2:32 avx512:64; do
        for kind in batch:batch general:batch_general plane:batch_plane; do
            unit "cairn_${kind%:*}_${type}_${width%:*}" "backend/host/${kind#*:}_sweep.c" "$bytes" "${width#*:}"
        done
    done
    for kind in :batch general_:batch_general plane_:batch_plane; do
        unit "cairn_sweeps_${kind%:*}$type" "backend/host/${kind#*:}_state.c" "$bytes" 16
    done
done
for width in baseline:16 avx2:32 avx512:64; do
    unit "cairn_judges_${width%:*}" problem/judge_lanes.c 8 "${width#*:}"
done
sources=$(ls ../backend/host/*.c | grep -Ev '_(sweep|state)\.c$')
build $cross $flags -o "$home/arm" ../../tests/kernel_bits.c "$home"/*.o $sources ../base/*.c \
    ../math/dense.c ../math/width.c \
    cone.c judge_balls.c local.c local_parts.c local_rows.c map.c operator.c residual.c segments.c -lm

"$home/native" >"$home/native.txt"
qemu-aarch64 -L /usr/aarch64-linux-gnu "$home/arm" >"$home/arm.txt"
diff "$home/native.txt" "$home/arm.txt"
cat "$home/arm.txt"
