#!/bin/sh
# The final hash of scenes is the same with gcc and with clang. Builds the program with the one that
# this build does not use; skipped when it is not there.
set -eu
skip() {
    echo "skipped: $1"
    exit 77
}

[ "$CAIRN_SANITIZE" = ON ] && skip "sanitized builds are too slow for this"
case $("$CC" --version | head -n 1) in
*clang*) other=gcc ;;
*) other=clang ;;
esac
command -v "$other" >/dev/null || skip "there is no $other"
command -v gcc >/dev/null || skip "there is no gcc, whose libgomp both use"

# a compiler without an OpenMP of its own: what cairn needs of it, and the library of gcc; loops are
# then done by one thread, which changes no bit
home=$CAIRN_BINARY_DIR/other-compiler
mkdir -p "$home/include"
cat >"$home/include/omp.h" <<'END'
void omp_set_num_threads(int threads);
int omp_get_num_procs(void);
END
launcher=$(command -v ccache || true)
"$CMAKE" -S "$CAIRN_SOURCE_DIR" -B "$home" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$other" \
    ${launcher:+-DCMAKE_C_COMPILER_LAUNCHER="$launcher"} -DCAIRN_BUILD_TESTS=OFF \
    -DOpenMP_C_FLAGS="-I$home/include -Wno-unknown-pragmas" -DOpenMP_C_LIB_NAMES=gomp \
    -DOpenMP_gomp_LIBRARY="$(gcc -print-file-name=libgomp.so)" >"$home/log" 2>&1 ||
    skip "$other cannot be set up: $(tail -n 1 "$home/log")"
"$CMAKE" --build "$home" --target cairn_program -j 2 >>"$home/log" 2>&1 || {
    tail -n 20 "$home/log"
    exit 1
}

# statistics are compared as well: they are sums over bodies and contacts
hash_of() {
    rm -rf "$home/$4"
    "$1" run "$CAIRN_SOURCE_DIR/scenes/$2.yaml" --quiet --out "$home/$4" --set run.duration="$3" \
        --set run.paraview=false --set run.picture=false \
        --set 'run.statistics=[centre, coordination, energy]' 2>/dev/null
    "$1" info "$home/$4" | awk '$1 == "hash" { print $2 }'
}

for scene in column_collapse_2d:0.2 rotating_drum_2d:0.2 shaken_box_2d:1.2 four_balls:0.5 \
    newton_cradle:0.5 stribeck_block:2 box_of_spheres:0.1 gripper:1 slider_crank_2d:0.5 \
    box_stack:0.1 hook:0.3 superellipsoid_drum:0.02 pebbles_on_a_belt:0.5 rolling_heap_2d:0.2; do
    name=${scene%:*} duration=${scene#*:}
    mine=$(hash_of "$CAIRN" "$name" "$duration" mine)
    its=$(hash_of "$home/tools/cairn" "$name" "$duration" its)
    [ -n "$mine" ] && [ "$mine" = "$its" ] || {
        echo "$name: hash $mine with $CC, $its with $other"
        exit 1
    }
    for file in "$home"/mine/statistics/*.csv; do
        cmp "$file" "$home/its/statistics/${file##*/}"
    done
    echo "$name: $mine"
done
