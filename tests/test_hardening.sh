#!/bin/sh
# The programs look for libraries in no folder that anybody can write to, above all not in the
# current one; and builds for use are hardened: position independent, full RELRO, stack protector,
# FORTIFY.
set -eu
fail() { echo "$*"; exit 1; }
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

command -v readelf >/dev/null || { echo "skipped: there is no readelf"; exit 77; }
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
