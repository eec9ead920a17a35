# Makefile - the usual commands; the build itself is CMake + Ninja (see CMakePresets.json).
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
RUN ?= pebble_bed
MPI ?= openmpi

# Debian has both side by side; elsewhere mpicc is the only one
MPI_WRAPPERS = $(if $(shell command -v mpicc.$(MPI)),-DMPI_C_COMPILER=mpicc.$(MPI) \
	-DMPIEXEC_EXECUTABLE=$(shell command -v mpiexec.$(MPI)))

.DEFAULT_GOAL := help
.PHONY: help run cuda viewer pictures python wheel notebooks mpi test soak bench bench-large bench-mpi repose build setup setup-test install format clean

help: ## this list
	@echo "cairn - rigid bodies with hard contact and Coulomb friction"; echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

run: build ## build, then run scenes/pebble_bed.yaml into out/pebble_bed
	build/release/tools/cairn run scenes/$(RUN).yaml --out out/$(RUN) --force
	@echo; echo "To see it move: build/release/tools/cairn view out/$(RUN)"
	@echo "(or open out/$(RUN)/picture.svg in a browser; docs/run-folder.md describes ParaView)"

test: setup-test ## build twice (optimised, checked) and run all tests in both
	@scripts/viewer --if-possible
	@scripts/test $(JOBS)

soak: build ## 10,000 random scenes and worlds, 1000 runs killed and resumed, 6000 damaged files, random poses in walls
	$(firstword $(wildcard /usr/bin/python3) python3) tests/tools/test_random_scenes.py --count 10000 --jobs $(JOBS)
	CAIRN=build/release/tools/cairn $(firstword $(wildcard /usr/bin/python3) python3) tests/tools/test_resume.py test_kills 1000 7
	CAIRN=build/release/tools/cairn CAIRN_CHECK=build/release/tools/cairn-check \
		$(firstword $(wildcard /usr/bin/python3) python3) tests/tools/test_old_runs.py test_flips 6000 7
	scripts/setup build test
	cmake --preset release -DCAIRN_BUILD_TESTS=ON >/dev/null && cmake --build --preset release --target soak_contacts
	$(firstword $(wildcard /usr/bin/python3) python3) tests/tools/test_random_worlds.py --count 10000 --jobs $(JOBS) \
		--shrink out/soak

bench: build ## build, then run the benchmarks into out/bench; scripts/setup bench installs peers
	bench/run

bench-large: build ## 1,000,000 spheres, 200 certified steps, about four minutes; N=50 STEPS=20 for less
	@mkdir -p out/bench && cmake --build --preset release --target cairn_bench >/dev/null
	build/release/bench/cairn_bench out/bench large $(or $(N),100) $(or $(STEPS),200)

bench-mpi: ## build with MPI, then measure ranks, messages and bytes of sweeps (docs/mpi-cost.md)
	@mkdir -p out/bench
	bench/run mpi

pictures: build ## draw twenty scenes as the viewer opens them into out/pictures (needs chromium), a film and the README's
	scripts/pictures

repose: build ## plot the angle of repose over rolling friction into out/repose
	scripts/tables repose

python: setup-test ## build the Python package into a virtual environment of its own and run its tests
	@scripts/python test

wheel: setup ## build a wheel with its libraries inside into build/wheels (needs PyPI)
	@scripts/python wheel

notebooks: ## make notebooks of python/examples in build/notebooks
	@scripts/python notebooks

viewer: ## build the page of `cairn view` (needs node and npm)
	@scripts/viewer

build: setup ## build the library and the program into build/release
	@scripts/viewer --if-possible
	@cmake --preset release -DCAIRN_BUILD_TESTS=OFF >/dev/null
	@cmake --build --preset release --parallel $(JOBS)

cuda: build ## build the back end for NVIDIA cards into build/release/backends (needs nvcc)
	@scripts/cuda build

mpi: ## build for several processes into build/mpi (docs/mpi.md); MPI=mpich takes MPICH, not Open MPI
	@scripts/setup build $(MPI)
	@cmake --fresh --preset mpi -DCAIRN_BUILD_TESTS=OFF $(MPI_WRAPPERS) >/dev/null
	@cmake --build --preset mpi --parallel $(JOBS)

install: build ## install library, headers and program into PREFIX (/usr/local)
	@cmake --install build/release --prefix "$(PREFIX)"

setup: ## install what the build needs (Debian; elsewhere: print what to install)
	@scripts/setup build

setup-test: ## install what the tests need as well
	@scripts/setup build test

format: ## format all C files by .clang-format
	clang-format -i $$(git ls-files include src studies tools tests | grep '\.[ch]$$')

clean: ## remove build/ and out/
	rm -rf build out
