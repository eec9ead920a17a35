"""The table of bench/peers on numbers made up for it: least times, and who is compared with whom."""
import importlib.util
import os
import sys
import unittest

sys.dont_write_bytecode = True
PATH = os.path.join(os.environ["CAIRN_SOURCE_DIR"], "bench", "peers", "table.py")
spec = importlib.util.spec_from_file_location("table", PATH)
table = importlib.util.module_from_spec(spec)
spec.loader.exec_module(table)


def row(engine, setting, step, total, largest, mean):
    return {"engine": engine, "setting": setting, "step_ms": step, "total_s": total, "overlap_max": largest,
            "overlap_mean": mean}


class Table(unittest.TestCase):
    def test_the_least_of_all_rounds_counts(self):
        times = [{"engine": "a", "setting": "1", "steps": "8", "total_s": "4", "last_s": "2"},
                 {"engine": "a", "setting": "1", "steps": "8", "total_s": "5", "last_s": "1"}]
        self.assertEqual(table.least_times(times), {("a", "1"): (500.0, 500.0, 4.0)})

    def test_the_fastest_cairn_that_overlaps_no_more_is_named(self):
        rows = [row("cairn", "convex:1e-2", 2, 10, 0.1, 0.01), row("cairn", "convex:1e-3", 3, 12, 0.01, 0.001),
                row("peer", "loose", 4, 30, 1, 0.1), row("peer", "tight", 6, 60, 0.05, 0.005)]
        table.judge(rows)
        self.assertEqual((rows[2]["cairn"], rows[2]["ratio"], rows[2]["ratio_total"]), ("convex:1e-2", 2, 3))
        self.assertEqual((rows[3]["cairn"], rows[3]["ratio"], rows[3]["ratio_total"]), ("convex:1e-3", 2, 5))

    def test_both_overlaps_must_be_no_larger(self):
        rows = [row("cairn", "convex:1e-2", 2, 10, 0.1, 0.01), row("peer", "x", 4, 30, 1, 0.009)]
        table.judge(rows)
        self.assertEqual(rows[1]["cairn"], "")

    def test_no_friction_is_no_rival(self):
        rows = [row("cairn", "frictionless:1e-2", 1, 1, 0, 0), row("peer", "x", 4, 30, 1, 1)]
        table.judge(rows)
        self.assertEqual(rows[1]["ratio"], "")

    def test_longer_steps_count_in_the_last_ratio_alone(self):
        rows = [row("cairn", "coulomb:1e-2", 2, 10, 0.1, 0.1), row("cairn", "coulomb:1e-2:4x", 1, 3, 0.2, 0.2),
                row("peer", "x", 4, 30, 1, 1)]
        table.judge(rows)
        self.assertEqual((rows[2]["ratio_total"], rows[2]["ratio_any_step"]), (3, 10))


if __name__ == "__main__":
    unittest.main()
