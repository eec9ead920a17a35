"""What tests share."""
import os

import pytest

import cairn

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: not under the sanitizers")


def falling_ball(**options):
    """A ball of 1 kg and radius 0.1 m, 1 m above a floor."""
    world = cairn.World(**{"time_step": 1e-3, "threads": 1, **options})
    world.add_body(cairn.HalfSpace(), motion="fixed")
    world.ball = world.add_body(cairn.Sphere(radius=0.1), position=(0, 0, 1.1), mass=1)
    return world


def heap(count=30, **options):
    """Disks that fall onto a line."""
    world = cairn.World(2, **{"time_step": 2e-3, "threads": 1, **options})
    world.add_body(cairn.HalfSpace(), motion="fixed")
    x = [(0.25 * (k % 6) + 0.01 * (k // 6), 0.2 + 0.25 * (k // 6)) for k in range(count)]
    world.add_bodies(cairn.Sphere, radius=0.1, position=x)
    return world


@pytest.fixture
def world():
    return falling_ball()


@pytest.fixture
def scenes():
    return os.path.join(ROOT, "scenes")
