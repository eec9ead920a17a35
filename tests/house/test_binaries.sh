#!/bin/sh
# What was built, looked at from outside:  test_binaries.sh GROUP
set -eu
fail() { echo "$*"; exit 1; }
skip() { echo "skipped: $*"; exit 77; }

# The programs look for libraries in no folder that anybody can write to, above all not in the
# current one; and builds for use are hardened: position independent, full RELRO, stack protector,
# FORTIFY.
test_hardening() {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT

    # files with the names of libraries in the current folder are not looked at, with or without readelf
    for program in "$CAIRN" "$CAIRN_CHECK"; do
        for library in $(ldd "$program" | awk '$2 == "=>" { print $1 }'); do
            echo "not a library" >"$work/$library"
        done
        said=$(cd "$work" && "$program" --help 2>&1) ||
            fail "$program takes libraries from the current folder: $said"
    done

    command -v readelf >/dev/null || skip "there is no readelf"
    for program in "$CAIRN" "$CAIRN_CHECK"; do
        readelf -W -d -l -h "$program" >"$work/elf"
        path=$(sed -n 's/.*(R\(UN\)\{0,1\}PATH).*\[\(.*\)\]/\2/p' "$work/elf")
        # each entry begins with / or $ORIGIN: none is empty, none is relative
        if [ -n "$path" ]; then
            echo ":$path:" | grep -q '::' && fail "$program: empty entries in '$path'"
            echo "$path" | tr ':' '\n' | grep -v -e '^/' -e '^\$ORIGIN/' && fail "$program: '$path'"
        fi
        grep -q 'Type: *DYN' "$work/elf" || fail "$program is not position independent"
        grep -q 'GNU_RELRO' "$work/elf" || fail "$program has no RELRO"
        grep -q -e 'BIND_NOW' -e 'Flags:.*NOW' "$work/elf" || fail "$program binds lazily"
        grep 'GNU_STACK' "$work/elf" | grep -q 'RWE' && fail "$program has an executable stack"
        [ "$CAIRN_SANITIZE" = ON ] && continue
        readelf -W --dyn-syms "$program" >"$work/symbols"
        grep -q '__stack_chk_fail' "$work/symbols" || fail "$program has no stack protector"
        [ "$CAIRN_BUILD_TYPE" = Debug ] && continue
        grep -q -e '__snprintf_chk' -e '__memcpy_chk' "$work/symbols" || fail "$program has no FORTIFY"
    done
    echo "hardened: $CAIRN, $CAIRN_CHECK"
}

# The library's external names all start with cairn_, and it keeps no mutable data but the
# allocator hooks.
test_symbols() {
    if [ "$CAIRN_SANITIZE" = ON ]; then skip "the sanitizers add names and data of their own"; fi
    for tool in nm objdump; do
        command -v $tool >/dev/null || skip "there is no $tool"
    done

    foreign=$(nm -g --defined-only "$CAIRN_LIBRARY" | awk 'NF == 3 && $3 !~ /^cairn_/ { print $3 }')
    if [ -n "$foreign" ]; then
        echo "external names without cairn_:"
        echo "$foreign"
        exit 1
    fi

    # lines of objdump -t: "address flags O section size name", O for an object. Constant tables with
    # pointers lie in .data.rel.ro; what else is called .data or .bss can change.
    mutable=$(objdump -t "$CAIRN_LIBRARY" |
        awk '$3 == "O" && $4 ~ /^\.(t?data|t?bss)/ && $4 !~ /^\.data\.rel\.ro/ { print $NF }')
    if [ "$mutable" != allocator ]; then
        echo "mutable data in the library, expected 'allocator' alone:"
        echo "$mutable"
        exit 1
    fi
    if ! nm -g --defined-only "$CAIRN_LIBRARY" | grep -q ' T cairn_version$'; then
        echo "cairn_version is not among the names of $CAIRN_LIBRARY"
        exit 1
    fi
}

# A unit, a source compiled for one width of registers (src/units.cmake), defines nothing that others
# can call but its table, of which it has the name: a function compiled for AVX-512 that the linker
# took for one of another file would stop a machine without AVX-512.
test_units() {
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
}

# cairn-check shares nothing with cairn: no header, no library, no name; HDF5 and libm alone.
test_cairn_check_alone() {
    folder=$CAIRN_SOURCE_DIR/tools/cairn-check

    # what it includes is its own, HDF5 or the system's
    for header in $(sed -n 's/^ *# *include *"\(.*\)"/\1/p' "$folder"/*.[ch] | sort -u); do
        [ -f "$folder/$header" ] || fail "cairn-check includes $header"
    done
    grep -l '^ *# *include *[<"]cairn/' "$folder"/*.[ch] && fail "cairn-check includes cairn"
    grep -q 'cairn_check PRIVATE cairn_options hdf5::hdf5 m)' "$folder/../CMakeLists.txt" ||
        fail "cairn-check links more than HDF5 and libm"

    if [ "$CAIRN_SANITIZE" = ON ]; then
        echo "the sanitizers bring libraries and names of their own: those are not looked at"
        exit 0
    fi
    command -v nm >/dev/null || skip "there is no nm"
    nm "$CAIRN_CHECK" | grep -q ' check_run_open$' || fail "nm sees nothing in $CAIRN_CHECK"
    foreign=$(nm "$CAIRN_CHECK" | awk '$NF ~ /^cairn_/ { print $NF }')
    [ -z "$foreign" ] || fail "names of cairn in cairn-check: $foreign"
    needed=$(readelf -d "$CAIRN_CHECK" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
        grep -v -e '^libhdf5' -e '^libm\.' -e '^libc\.' || true)
    [ -z "$needed" ] || fail "cairn-check needs $needed"
}

# A run with all that a file can hold, its check, and what reads it, under valgrind: no byte is read that
# was freed, or was never written. The sanitizers do not look into libraries; valgrind does.
test_valgrind() {
    if [ "${CAIRN_SANITIZE:-OFF}" = ON ]; then skip "the sanitizers and valgrind exclude each other"; fi
    if ! command -v valgrind >/dev/null 2>&1; then skip "valgrind is not installed"; fi

    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive

    watched() {
        if ! valgrind -q --error-exitcode=99 --trace-children=yes \
            "$@" >"$work/said.txt" 2>&1; then
            echo "under valgrind failed: $*"
            cat "$work/said.txt"
            exit 1
        fi
    }

    cat >"$work/scene.yaml" <<'END'
cairn: 1
materials: {rock: {friction: 0.4, restitution: 0.3}}
bodies:
  - {name: floor, motion: fixed, material: rock, shape: {half_space: {axis: [0, 0, 1]}}}
  - {name: box, material: rock, shape: {box: {size: [0.2, 0.2, 0.2]}}, position: [0, 0, 0.1]}
  - {material: rock, shape: {sphere: {radius: 0.1}}, position: [0, 0.02, 0.31]}
run: {time_step: 5e-3, duration: 0.1, frame_interval: 0.02, certificate: full, statistics: [packing],
      checkpoint_every: 0.05, save_problem: [10]}
END

    watched "$CAIRN" run "$work/scene.yaml" --out "$work/run" --quiet
    watched "$CAIRN_CHECK" "$work/run"
    watched "$CAIRN" info "$work/run"
    watched "$CAIRN" stat "$work/run" packing
    watched "$CAIRN" solve "$work"/run/problems/*
    echo "valgrind has no complaint"
}

"$1"
