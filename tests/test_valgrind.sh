#!/bin/sh
# A run with all that a file can hold, its check, and what reads it, under valgrind: no byte is read that
# was freed, or was never written. The sanitizers do not look into libraries; valgrind does.
set -eu

if [ "${CAIRN_SANITIZE:-OFF}" = ON ]; then
    echo "skipped: the sanitizers and valgrind exclude each other"
    exit 77
fi
if ! command -v valgrind >/dev/null 2>&1; then
    echo "skipped: valgrind is not installed"
    exit 77
fi

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
