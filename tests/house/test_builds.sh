#!/bin/sh
# Building in other ways, and the Python package:  test_builds.sh GROUP
set -eu
fail() { echo "$*"; exit 1; }
skip() { echo "skipped: $*"; exit 77; }

# The core builds without the file formats (-DCAIRN_FILES=OFF): its objects need nothing that those of
# scenes, files and runs define, nor a function of HDF5, libyaml or zlib.
test_core_needs_no_files() {
    if ! command -v nm >/dev/null; then skip "there is no nm"; fi
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    objects=$CAIRN_BINARY_DIR/src/CMakeFiles/cairn.dir
    for folder in base math measure shape collide problem backend solve world; do
        find "$objects/$folder" -name '*.o' -exec nm -u {} + | awk 'NF == 2 { print $2 }'
    done | sort -u >"$work/needed"
    for folder in file scene mpi run study; do
        find "$objects/$folder" -name '*.o' -exec nm --defined-only -g {} + | awk 'NF == 3 { print $3 }'
    done | sort -u >"$work/others"
    [ "$(wc -l <"$work/needed")" -gt 300 ] && [ "$(wc -l <"$work/others")" -gt 200 ] || fail "too few symbols were found"
    found=$(comm -12 "$work/needed" "$work/others")
    [ -z "$found" ] || fail "the core needs what scenes, files or runs define:" $found
    found=$(grep -E '^(H5|yaml_|inflate|deflate|crc32)' "$work/needed" || true)
    [ -z "$found" ] || fail "the core needs functions of file formats:" $found
    # the files that stand for Qhull and SuiteSparse where those are missing define what the core needs of them
    for stand_in in math/factor shape/hull; do
        "$CC" -std=c17 -D_XOPEN_SOURCE=700 -I "$CAIRN_SOURCE_DIR/include" -I "$CAIRN_SOURCE_DIR/src" \
            -c "$CAIRN_SOURCE_DIR/src/${stand_in}_none.c" -o "$work/none.o"
        nm --defined-only -g "$work/none.o" | awk 'NF == 3 { print $3 }' | sort >"$work/none"
        nm --defined-only -g "$objects/$stand_in.c.o" | awk 'NF == 3 { print $3 }' | sort >"$work/whole"
        cmp "$work/none" "$work/whole" || fail "${stand_in}_none.c defines other functions than $stand_in.c"
    done
}

# What is installed can be used: a program is built against it through pkg-config and through
# find_package(cairn), with the static library of this build and with a shared one.
test_install() {
    if [ "$CAIRN_SANITIZE" = ON ]; then skip "installing is tested with the release build"; fi
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT

    mkdir "$work/user"
    cat >"$work/user/user.c" <<'END'
#include <cairn/cairn.h>
#include <stdio.h>

int main(void)
{
    cairn_world_def def = cairn_world_def_default();
    cairn_world *world = NULL;
    if (cairn_world_create(&def, &world) != CAIRN_OK)
        return 1;
    printf("%s %d\n", cairn_version(), cairn_world_dimension(world));
    cairn_world_destroy(world);
    return 0;
}
END
    cat >"$work/user/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(user C)
find_package(cairn 0.1 REQUIRED)
add_executable(user user.c)
target_link_libraries(user PRIVATE cairn::cairn)
END

    expect() { # what was printed, by whom
        [ "$1" = "0.1.0 3" ] || fail "$2 printed '$1', expected '0.1.0 3'"
    }

    # no entry that means the current folder, in the build tree and where it was installed
    check_runpath() { # program
        command -v readelf >/dev/null || return 0
        path=$(readelf -W -d "$1" | sed -n 's/.*(R\(UN\)\{0,1\}PATH).*\[\(.*\)\]/\2/p')
        case ":$path:" in
        ::) ;;
        *::*) fail "$1: empty entries in its path '$path'" ;;
        esac
    }

    check_prefix() { # prefix, kind
        check_runpath "$1/bin/cairn"
        check_runpath "$1/bin/cairn-check"
        pc=$(find "$1" -name cairn.pc)
        [ -n "$pc" ] || fail "$2: no cairn.pc was installed"
        PKG_CONFIG_PATH=$(dirname "$pc")
        export PKG_CONFIG_PATH
        [ "$(pkg-config --modversion cairn)" = 0.1.0 ] || fail "$2: pkg-config tells another version"
        # shellcheck disable=SC2046  # lists of words
        ${CC:-cc} "$work/user/user.c" -o "$work/user-pc" $(pkg-config --cflags --libs cairn)
        LD_LIBRARY_PATH=$(pkg-config --variable=libdir cairn)
        export LD_LIBRARY_PATH
        expect "$("$work/user-pc")" "$2, pkg-config"
        unset LD_LIBRARY_PATH

        "$CMAKE" -S "$work/user" -B "$work/build-$2" -DCMAKE_PREFIX_PATH="$1" >"$work/log" 2>&1 ||
            { cat "$work/log"; fail "$2: find_package(cairn) failed"; }
        "$CMAKE" --build "$work/build-$2" >"$work/log" 2>&1 ||
            { cat "$work/log"; fail "$2: building with cairn::cairn failed"; }
        expect "$("$work/build-$2/user")" "$2, find_package"

        [ "$("$1/bin/cairn" --version)" = "cairn 0.1.0" ] || fail "$2: the installed program fails"
        "$1/bin/cairn-check" --help >"$work/log" || fail "$2: the installed cairn-check fails"
    }

    "$CMAKE" --install "$CAIRN_BINARY_DIR" --prefix "$work/static" >"$work/log"
    check_prefix "$work/static" static

    # every header stands alone, and C++ takes it
    for header in "$work/static"/include/cairn/*.h; do
        echo "#include <cairn/$(basename "$header")>" >"$work/one.c"
        ${CC:-cc} -std=c17 -Wall -Wextra -Wpedantic -Werror -I"$work/static/include" -fsyntax-only \
            "$work/one.c" || fail "$header does not stand alone"
        if command -v c++ >/dev/null; then
            c++ -x c++ -Wall -Wextra -Werror -I"$work/static/include" -fsyntax-only "$work/one.c" ||
                fail "C++ does not take $header"
        fi
    done

    # moved after it was installed: nothing may point back
    mv "$work/static" "$work/moved"
    check_prefix "$work/moved" moved

    "$CMAKE" -S "$CAIRN_SOURCE_DIR" -B "$work/shared-build" -G Ninja -DBUILD_SHARED_LIBS=ON \
        -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DCAIRN_BUILD_TESTS=OFF >"$work/log" 2>&1 ||
        { cat "$work/log"; fail "configuring the shared library failed"; }
    "$CMAKE" --build "$work/shared-build" --parallel 2 >"$work/log" 2>&1 ||
        { cat "$work/log"; fail "building the shared library failed"; }
    check_runpath "$work/shared-build/tools/cairn"
    [ "$("$work/shared-build/tools/cairn" --version)" = "cairn 0.1.0" ] || fail "the shared build fails"
    "$CMAKE" --install "$work/shared-build" --prefix "$work/shared" >"$work/log"
    [ -L "$(find "$work/shared" -name libcairn.so.0.1)" ] || fail "no libcairn.so.0.1 was installed"
    # shown to the outside: the public face, and nothing else
    hidden=$(nm -D --defined-only "$(find "$work/shared" -name libcairn.so.0.1.0)" |
        awk '$3 ~ /^cairn_(memory|arena|fail|parallel)/ { print $3 }')
    [ -z "$hidden" ] || fail "private names are exported: $hidden"
    check_prefix "$work/shared" shared
}

# The final hash of scenes is the same with gcc and with clang. Builds the program with the one that
# this build does not use; skipped when it is not there.
test_compilers() {
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
}

# The kernels give the same bits on ARM (NEON registers) as on this machine: kernel_bits.c is built
# with the library, and for ARM with Debian's cross compiler; qemu runs that one. Skipped when they
# are not there (gcc-aarch64-linux-gnu, qemu-user).
test_arm() {
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
    build "$CC" -Iinclude -Isrc -I. -o "$home/native" tests/backend/kernel_bits.c "$CAIRN_LIBRARY" -lm

    # for ARM what the kernels need, without what calls other libraries; and the units, as in
    # src/units.cmake, without flags of x86
    cd src/problem
    flags="-I../../include -I.. -I../.."
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
    build $cross $flags -o "$home/arm" ../../tests/backend/kernel_bits.c "$home"/*.o $sources ../base/*.c \
        ../math/dense.c ../math/width.c \
        cone.c cut.c local.c operator.c residual.c segments.c -lm

    "$home/native" >"$home/native.txt"
    qemu-aarch64 -L /usr/aarch64-linux-gnu "$home/arm" >"$home/arm.txt"
    diff "$home/native.txt" "$home/arm.txt"
    cat "$home/arm.txt"
}

# The Python package: installed from the build into a virtual environment of its own, and its tests.
# Under the sanitizers all but the examples, with libasan loaded first. `make python` comes here.
test_python() {
    venv=$CAIRN_BINARY_DIR/python-venv
    [ -f "$CAIRN_BINARY_DIR/python/_cairn.abi3.so" ] ||
        skip "the package is not built; it needs python3-dev and python3-cffi"
    "$PYTHON" -c "import numpy, yaml, pytest" 2>/dev/null ||
        skip "it needs python3-numpy, python3-yaml and python3-pytest"
    "$PYTHON" -m venv --system-site-packages --without-pip "$venv" || skip "there is no module venv"
    site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))') || exit 1
    rm -rf "$site/cairn"
    "$CMAKE" --install "$CAIRN_BINARY_DIR" --component python --prefix "$site" >/dev/null || exit 1

    cd "$CAIRN_SOURCE_DIR" || exit 1
    unset MALLOC_PERTURB_ # numpy and matplotlib are not ours to test
    export MPLBACKEND=Agg PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=default
    if [ "$CAIRN_SANITIZE" = ON ]; then
        LD_PRELOAD=$("$CC" -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 \
            "$venv/bin/python" -m pytest -q -x -p no:cacheprovider -m "not slow" python/tests
    else
        "$venv/bin/python" -m pytest -q -p no:cacheprovider python/tests
    fi
}

"$1"
