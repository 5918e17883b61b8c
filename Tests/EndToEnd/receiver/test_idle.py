"""The cost of collar-link while nothing happens, and the time that its start takes."""

import shutil
import signal
import statistics
import time
import unittest

from system_calls import IDLE_SECONDS, SystemCalls
from end_to_end import BINARY
from sending import WrittenCollarTest
from serial_line import SerialLine


@unittest.skipUnless(shutil.which("strace"), "needs strace")
class IdleTest(SystemCalls):
    def assert_small(self, pid):
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            sizes = {key: int(value.split()[0]) for key, _, value in (line.partition(":") for line in file)
                     if key in ("RssAnon", "VmRSS", "VmHWM")}
        print(f"RssAnon {sizes['RssAnon']} KiB, VmRSS {sizes['VmRSS']} KiB, VmHWM {sizes['VmHWM']} KiB ", end="", flush=True)
        # The rest is code, which the kernel drops when it needs the memory.
        self.assertLessEqual(sizes["RssAnon"], 1200)

    def test_after_a_whole_track(self):
        """While the collar is silent, the receiver makes no system call at all, and has little memory."""
        track, sent = self.all_cats()
        # The batteries of many cats would run low again and again, and the count of repeated warnings comes later.
        collar = self.simulate(track, "--speed", "max", "--battery", "80")
        receiver = self.receive()
        receiver.wait_for_lines(len(sent), 90)
        collar.wait_for_error("are acknowledged")
        # The heartbeat of the collar would give the receiver work.
        collar.process.send_signal(signal.SIGSTOP)
        self.assert_idle(receiver)
        self.assert_small(receiver.pid)

    def test_waiting_for_a_port(self):
        """A receiver looks once a second for a named port that is absent, and does nothing else."""
        receiver = self.receive()
        receiver.wait_for_error("to appear")
        calls = self.system_calls(receiver.pid)
        looks = sum("open" in call and self.link in call for call in calls)
        self.assertTrue(IDLE_SECONDS - 2 <= looks <= IDLE_SECONDS + 1, looks)
        # A look opens the path, makes sure that nothing is there, and waits.
        self.assertLessEqual(len(calls), 3 * (looks + 1), calls[:9])
        self.assert_small(receiver.pid)

    def test_work_is_seen(self):
        """Tests the measurement itself: a receiver that has work makes system calls."""
        self.simulate(self.track("cats_uk/Felix-Tag")[0], "--interval", "0.5")
        receiver = self.receive()
        receiver.wait_for_lines(1)
        self.assertNotEqual(self.system_calls(receiver.pid), [])

    def test_start(self):
        """Prints the time from exec to the first wait. There is no limit, because the time depends on the machine."""
        line = SerialLine()
        self.addCleanup(line.close)
        times = []
        for index in range(20):
            trace = self.path(f"start-{index}")
            receiver = self.start(
                ["strace", "-f", "--seccomp-bpf", "-qq", "-ttt", "-e", "trace=execve,epoll_wait,epoll_pwait,epoll_pwait2",
                 "-o", trace, BINARY, "--port", line.path, "--dialect", "serial", "--state-dir", self.state, "-T", "0.1"])
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
    """Each request has a time at which it expires. Once the request has ended, the receiver does not wake for that."""

    def test_answered_and_expired(self):
        receiver = self.begin()
        given = time.monotonic()
        program = self.send("-F", "json", "--now", "--timeout", "3", "locate")
        self.answer(self.next_request(), 0)
        self.assertEqual(self.result(program, 0)["outcome"], "ok")
        program = self.send("-F", "json", "--now", "--timeout", "1", "locate")
        self.assertEqual(self.result(program, 75)["outcome"], "expired")
        # The time of the first request passes while no frame comes in.
        time.sleep(max(0, given + 4 - time.monotonic()))
        self.assert_idle(receiver)

    def test_expired_between_two_runs(self):
        receiver = self.begin()
        program = self.send("-F", "json", "--now", "--timeout", "1", "locate")
        self.next_request()
        receiver.kill_now()
        program.kill_now()
        time.sleep(1.1)
        receiver = self.begin()
        receiver.wait_for_error("no answer in time")
        self.assert_idle(receiver)
