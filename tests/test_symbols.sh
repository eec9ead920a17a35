#!/bin/sh
# The library's external names all start with cairn_, and it keeps no mutable data but the
# allocator hooks.
set -eu
if [ "$CAIRN_SANITIZE" = ON ]; then
    echo "skipped: the sanitizers add names and data of their own"
    exit 77
fi
for tool in nm objdump; do
    command -v $tool >/dev/null || { echo "skipped: there is no $tool"; exit 77; }
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
