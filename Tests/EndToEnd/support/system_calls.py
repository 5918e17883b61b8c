"""The system calls of a running program."""

import re
import subprocess

from end_to_end import EndToEndTest

IDLE_SECONDS = 10


class SystemCalls(EndToEndTest):
    """Records the system calls of a process."""

    def system_calls(self, pid):
        """The system calls of a process and its threads during some seconds, as strace prints them."""
        trace = self.path("strace")
        strace = subprocess.Popen(
            ["strace", "-f", "-qq", "-p", str(pid), "-o", trace], stderr=subprocess.PIPE, text=True)
        self.addCleanup(strace.stderr.close)
        self.addCleanup(strace.wait)
        self.addCleanup(strace.terminate)
        try:
            code = strace.wait(IDLE_SECONDS)
            text = strace.stderr.read()
            if "Operation not permitted" in text:
                self.skipTest("this system lets only root trace other processes")
            self.fail(f"strace ended with {code}: {text}")
        except subprocess.TimeoutExpired:
            pass
        strace.terminate()
        strace.wait(5)
        with open(trace, encoding="utf-8") as file:
            lines = file.read().splitlines()
        # When strace ends, it prints the call in which the process sleeps, which does not count. A wait that has ended
        # does count: a deadline in the past would end it at once.
        return [line for line in lines if not re.search(r"epoll_p?wait2?\(.*<(unfinished|detached)", line)]

    def assert_idle(self, receiver):
        """Checks that the receiver makes no system call at all."""
        calls = self.system_calls(receiver.pid)
        self.assertEqual((len(calls), calls[:5]), (0, []))
