"""Runs the tests named on the command line, or all, and says each failure at once: a run that is ended tells what it
had found."""

import pathlib
import sys
import time
import unittest

HERE = pathlib.Path(__file__).parent


class Result(unittest.TextTestResult):
    def _say(self, test, error):
        kind, value, _ = error
        text = str(value) if issubclass(kind, AssertionError) else self._exc_info_to_string(error, test)
        self.stream.writeln(f"\n✗ {test}\n  {text}")
        self.stream.flush()

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._say(test, error)

    addError = addFailure

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error:
            self._say(subtest, error)

    def startTest(self, test):
        super().startTest(test)
        self._began = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        self.stream.writeln(f"{time.monotonic() - self._began:6.1f} s  {test.id()}")
        self.stream.flush()

    def printErrors(self):
        pass  # each was said when it happened


if __name__ == "__main__":
    loader = unittest.TestLoader()
    names = sys.argv[1:]
    suite = loader.loadTestsFromNames(names) if names else loader.discover(str(HERE))
    done = unittest.TextTestRunner(resultclass=Result, verbosity=0).run(suite)
    sys.exit(0 if done.wasSuccessful() and done.testsRun else 1)
