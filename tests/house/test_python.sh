#!/bin/sh
# The Python package: installed from the build into a virtual environment of its own, and its tests.
# Under the sanitizers all but the examples, with libasan loaded first. `make python` comes here.
set -u
venv=$CAIRN_BINARY_DIR/python-venv
skip() {
    echo "skipped: $*"
    exit 77
}

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
    "$venv/bin/python" -m pytest -q -p no:cacheprovider python/tests "$@"
fi
