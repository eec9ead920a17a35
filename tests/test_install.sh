#!/bin/sh
# What is installed can be used: a program is built against it through pkg-config and through
# find_package(cairn), with the static library of this build and with a shared one.
set -eu
if [ "$CAIRN_SANITIZE" = ON ]; then
    echo "skipped: installing is tested with the release build"
    exit 77
fi
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

fail() { echo "$*"; exit 1; }

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
