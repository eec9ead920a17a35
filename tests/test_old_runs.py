#!/usr/bin/env python3
"""A run that was written in version 1 of the format, before checksums, is read by every command."""
import gzip
import os
import subprocess
import sys
import tempfile
import unittest

CAIRN, CHECK = os.environ["CAIRN"], os.environ["CAIRN_CHECK"]
HERE = os.path.dirname(os.path.abspath(__file__))


def said(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.decode()


class OldRuns(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.home.name, "run.h5")
        with gzip.open(os.path.join(HERE, "run_version_1.h5.gz")) as packed, open(self.path, "wb") as file:
            file.write(packed.read())

    def tearDown(self):
        self.home.cleanup()

    def test_the_commands_read_it(self):
        for words, expected in ((["info"], "steps"), (["explain"], "4 steps of 0.005 s"),
                                (["stat", "energy"], "kinetic")):
            code, text = said(CAIRN, words[0], self.path, *words[1:])
            self.assertEqual(code, 0, text)
            self.assertIn(expected, text)

    def test_it_is_certified_without_checksums(self):
        code, text = said(CHECK, self.path)
        self.assertEqual(code, 0, text)
        self.assertIn("certified: 4 steps", text)
        self.assertIn("checksums: there are none in a file of version 1", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
