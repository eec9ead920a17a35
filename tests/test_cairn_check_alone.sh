#!/bin/sh
# cairn-check shares nothing with cairn: no header, no library, no name; HDF5 and libm alone.
set -eu
folder=$CAIRN_SOURCE_DIR/tools/cairn-check
fail() { echo "$*"; exit 1; }

# what it includes is its own, HDF5 or the system's
for header in $(sed -n 's/^ *# *include *"\(.*\)"/\1/p' "$folder"/*.[ch] | sort -u); do
    [ -f "$folder/$header" ] || fail "cairn-check includes $header"
done
grep -l '^ *# *include *[<"]cairn/' "$folder"/*.[ch] && fail "cairn-check includes cairn"
grep -q 'PRIVATE cairn_options hdf5::hdf5 m)' "$folder/CMakeLists.txt" ||
    fail "cairn-check links more than HDF5 and libm"

if [ "$CAIRN_SANITIZE" = ON ]; then
    echo "the sanitizers bring libraries and names of their own: those are not looked at"
    exit 0
fi
command -v nm >/dev/null || { echo "skipped: there is no nm"; exit 77; }
nm "$CAIRN_CHECK" | grep -q ' check_run_open$' || fail "nm sees nothing in $CAIRN_CHECK"
foreign=$(nm "$CAIRN_CHECK" | awk '$NF ~ /^cairn_/ { print $NF }')
[ -z "$foreign" ] || fail "names of cairn in cairn-check: $foreign"
needed=$(readelf -d "$CAIRN_CHECK" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
    grep -v -e '^libhdf5' -e '^libm\.' -e '^libc\.' || true)
[ -z "$needed" ] || fail "cairn-check needs $needed"
