"""What collar-link costs while nothing happens, and how fast it starts."""

import os
import re
import shutil
import signal
import statistics
import subprocess
import time
import unittest

from collarlink import BINARY, EndToEndTest
from sending import WrittenCollarTest
from serial_line import SerialLine

IDLE_SECONDS = 10


class SystemCalls(EndToEndTest):
    """Watches which system calls a process makes."""

    def system_calls(self, pid):
        """What strace sees of a process for some seconds, its threads included."""
        # Not beside the port: a new file there is something to look at for who waits.
        os.mkdir(self.path("traces"))
        trace = self.path("traces/strace")
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
        # The call it sleeps in is shown when strace goes. One that has ended counts: a time in the past ends it at once.
        return [line for line in lines if not re.search(r"epoll_p?wait2?\(.*<(unfinished|detached)", line)]

    def assert_idle(self, receiver):
        """It makes no system call at all."""
        calls = self.system_calls(receiver.pid)
        self.assertEqual((len(calls), calls[:5]), (0, []))


@unittest.skipUnless(shutil.which("strace"), "needs strace")
class IdleTest(SystemCalls):
    def assert_small(self, pid):
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            sizes = {key: int(value.split()[0]) for key, _, value in (line.partition(":") for line in file)
                     if key in ("RssAnon", "VmRSS", "VmHWM")}
        print(f"RssAnon {sizes['RssAnon']} KiB, VmRSS {sizes['VmRSS']} KiB, VmHWM {sizes['VmHWM']} KiB ", end="", flush=True)
        self.assertLessEqual(sizes["RssAnon"], 2048)
        self.assertLessEqual(sizes["VmRSS"], 8192)

    def test_after_a_whole_track(self):
        """The collar is silent: no system call at all, and little memory."""
        track, sent = self.all_cats()
        collar = self.simulate(track, "--speed", "max")
        receiver = self.receive()
        receiver.wait_for_lines(len(sent), 30)
        collar.wait_for_error("are acknowledged")
        # Its heartbeat would be something to do.
        collar.process.send_signal(signal.SIGSTOP)
        self.assert_idle(receiver)
        self.assert_small(receiver.pid)

    def test_waiting_for_a_port(self):
        receiver = self.receive()
        receiver.wait_for_error("to appear")
        self.assert_idle(receiver)
        self.assert_small(receiver.pid)

    def test_work_is_seen(self):
        """The yardstick itself: a receiver with something to do makes system calls."""
        self.simulate(self.track("cats_uk/Felix-Tag")[0], "--interval", "0.5")
        receiver = self.receive()
        receiver.wait_for_lines(1)
        self.assertNotEqual(self.system_calls(receiver.pid), [])

    def test_start(self):
        """From exec to the first wait: a figure for people, not a verdict, since it depends on the machine."""
        line = SerialLine()
        self.addCleanup(line.close)
        times = []
        for index in range(20):
            trace = self.path(f"start-{index}")
            receiver = self.start(
                ["strace", "-f", "--seccomp-bpf", "-qq", "-ttt", "-e", "trace=execve,epoll_wait,epoll_pwait,epoll_pwait2",
                 "-o", trace, BINARY, "--port", line.path, "--state-dir", self.state, "-T", "0.1"])
            self.assertEqual(receiver.wait(10), 0, receiver.error_text)
            with open(trace, encoding="utf-8") as file:
                calls = [line.split(maxsplit=2) for line in file]
            begin = next(float(when) for _, when, call in calls if call.startswith("execve"))
            wait = next(float(when) for _, when, call in calls if call.startswith("epoll_"))
            times.append(1000 * (wait - begin))
        print(f"exec to first wait: median {statistics.median(times):.1f} ms, worst {max(times):.1f} ms of 20 ",
              end="", flush=True)


@unittest.skipUnless(shutil.which("strace"), "needs strace")
class AfterRequestsTest(SystemCalls, WrittenCollarTest):
    """Each request has a time at which it ends unanswered. Once it has ended, the receiver does not wait for that time."""

    def test_answered_and_expired(self):
        receiver = self.begin()
        given = time.monotonic()
        program = self.send("--json", "--now", "--timeout", "3", "locate")
        self.answer(self.next_request(), 0)
        self.assertEqual(self.result(program, 0)["outcome"], "ok")
        program = self.send("--json", "--now", "--timeout", "1", "locate")
        self.assertEqual(self.result(program, 75)["outcome"], "expired")
        # The time of the first one passes while nothing is heard.
        time.sleep(max(0, given + 4 - time.monotonic()))
        self.assert_idle(receiver)

    def test_expired_between_two_runs(self):
        receiver = self.begin()
        program = self.send("--json", "--now", "--timeout", "1", "locate")
        self.next_request()
        receiver.kill_now()
        program.kill_now()
        time.sleep(1.1)
        receiver = self.begin()
        receiver.wait_for_error("no answer in time")
        self.assert_idle(receiver)
