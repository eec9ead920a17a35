"""Contact problems from arrays, sparse matrices, files and worlds, and their solvers."""
import numpy as np
import pytest

import cairn
from conftest import heap


def one_contact():
    """A mass of 2 kg that falls at 3 m/s and slides at 1 m/s; friction 0.2."""
    return cairn.Problem.local(np.eye(3) / 2, [[-3.0, 1.0, 0.0]], 0.2)


def test_one_contact_by_hand():
    # normal impulse 6 N s; friction 0.2 * 6 = 1.2 N s takes 0.6 m/s of the 1 m/s
    for solver in ("auto", "pgs", "ngs"):
        found = cairn.solve(one_contact(), solver, tolerance=1e-12)
        assert found.converged and found.residual <= 1e-12
        np.testing.assert_allclose(found.r, [[6, -1.2, 0]], atol=1e-9)
        np.testing.assert_allclose(found.u, [[0, 0.4, 0]], atol=1e-9)


def test_the_convex_law_differs_where_it_slides():
    found = cairn.solve(one_contact(), law="convex", tolerance=1e-12)
    judged = one_contact().judge(found.r, "coulomb")
    assert judged.asked.relative > 1e-3 and judged.cone_violation < 1e-9


def test_scipy_matrices_are_the_same_as_arrays():
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(3)
    A = rng.normal(size=(12, 6))
    W = A[:6] @ A[:6].T + np.eye(6)
    q = rng.normal(size=(2, 3))
    dense = cairn.Problem.local(W, q, [0.3, 0.4])
    for kind in (sparse.csr_matrix, sparse.coo_matrix, sparse.csc_matrix):
        other = cairn.Problem.local(kind(W), q, [0.3, 0.4])
        np.testing.assert_array_equal(cairn.solve(dense, tolerance=1e-10).r,
                                      cairn.solve(other, tolerance=1e-10).r)
    np.testing.assert_allclose(dense.W.toarray(), W)
    np.testing.assert_array_equal(dense.q, q)
    np.testing.assert_array_equal(dense.mu, [0.3, 0.4])


def test_the_block_form_and_the_general_form_agree():
    # a ball on a plane, and the same with M and H written out
    H = np.zeros((1, 2, 3, 6))
    H[0, 0] = np.hstack([np.eye(3), np.zeros((3, 3))])
    block = cairn.Problem.block(np.full((1, 6), 0.5), [[-3, 1, 0, 0, 0, 0]], [[0, -1]], H, [0.2])
    general = cairn.Problem.general(2 * np.eye(6), H[0, 0].T, 2 * np.array([-3., 1, 0, 0, 0, 0]),
                                    np.zeros((1, 3)), [0.2])
    for problem in (block, general):
        np.testing.assert_allclose(cairn.solve(problem, tolerance=1e-12).r, [[6, -1.2, 0]],
                                   atol=1e-9)
    v, u = block.apply([[6, -1.2, 0]])
    np.testing.assert_allclose(v, [[0, 0.4, 0, 0, 0, 0]], atol=1e-12)
    assert "1 bodies" in repr(block)


def test_history_falls():
    world = heap(tolerance=1e-8)
    world.run(0.6)
    problem = world.problem()
    found = cairn.solve(problem, "pgs", r=np.zeros_like(problem.r), tolerance=1e-9,
                        max_iterations=20000, history=True)
    iterations, residuals = found.history[:, 0], found.history[:, 1]
    assert found.converged and (np.diff(iterations) > 0).all()
    assert residuals[-1] <= 1e-9 < residuals[0]
    assert "pgs" in repr(found)


def test_the_problem_of_a_world_has_its_impulses():
    world = heap(tolerance=1e-6)
    with pytest.raises(cairn.Error, match="no problem"):
        world.problem()
    world.run(0.6)
    problem = world.problem()
    judged = problem.judge(problem.r, "coulomb")
    assert judged.asked.relative <= 1e-6
    world.step()  # the problem is a copy
    assert problem.judge(problem.r, "coulomb").asked.relative == judged.asked.relative


def test_fclib_files_and_back(tmp_path):
    world = heap()
    world.run(0.6)
    problem = world.problem()
    solved = cairn.solve(problem, tolerance=1e-8)
    path = tmp_path / "heap.hdf5"
    problem.save(path, solved.r, solver="auto")
    again = cairn.Problem.load(path)
    assert again.contacts == problem.contacts and again.q is not None
    np.testing.assert_array_equal(again.solution, solved.r)
    assert again.judge(again.solution).asked.relative < 1e-6
    with pytest.raises(cairn.NotFound) as caught:
        cairn.Problem.load(tmp_path / "none.hdf5")
    assert caught.value.file.endswith("none.hdf5")


def test_bad_problems_are_refused():
    for call, key in (
            (lambda: cairn.Problem.local(np.eye(4), [[1, 2, 3.]], 0.1), "W"),
            (lambda: cairn.Problem.local(np.eye(3), [1, 2, 3.], 0.1), "q"),
            (lambda: cairn.Problem.local(np.eye(3), [[1, 2, 3.]], [0.1, 0.2]), "mu")):
        with pytest.raises(cairn.BadInput) as caught:
            call()
        assert caught.value.key == key
    with pytest.raises(cairn.Error):
        cairn.Problem.local(np.eye(3), [[1, 2, 3.]], -0.1)
    with pytest.raises(cairn.NotFinite):
        cairn.Problem.local(np.full((3, 3), np.nan), [[1, 2, 3.]], 0.1)
    with pytest.raises(TypeError):
        cairn.Problem()
    with pytest.raises(cairn.Error):
        cairn.solve(one_contact(), "best")
    with pytest.raises(cairn.BadInput):
        cairn.solve(one_contact(), law="newton")
    with pytest.raises(cairn.Error):
        cairn.solve(one_contact(), "ipm", law="coulomb")
    with pytest.raises(TypeError):
        cairn.solve(one_contact(), tolerence=1)
    assert one_contact().accepts("pgs") and not one_contact().accepts("ipm")


def test_a_problem_without_contacts():
    problem = cairn.Problem.local(np.zeros((0, 0)), np.zeros((0, 3)), np.zeros(0))
    assert cairn.solve(problem).r.shape == (0, 3)
