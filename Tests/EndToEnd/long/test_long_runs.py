"""Long runs: memory does not grow, and a consumer that stops for hours gets all lines in the end.

Tools/bench week sends sixty million fixes; these tests send enough to show growth.
"""

import json
import pathlib
import statistics
import time

from end_to_end import EndToEndTest, wait_until
from fast_collar import FastCollar
from radio import Radio
from serial_line import SerialLine

# The most KiB by which the anonymous memory may grow once it has settled. Buffers and the heap reach their size late:
# 2.4 million fixes add 440 KiB, most of it early.
GROWTH = 448
# The most KiB that a tenth of the run of ten collars may add; one byte per fix would add 195. The heap of a sound
# receiver grows more and more slowly, by 640 KiB in six million fixes; here it grows by 20 to 50 KiB per tenth.
TENTH_GROWTH = 98
RUN = 500  # fixes that a collar sends in one turn


def anonymous_kib(pid):
    """RssAnon of a process, in KiB."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text("ascii")
    return int(status.partition("RssAnon:")[2].split()[0])


class LongRunTest(EndToEndTest):
    def begin(self, **options):
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive("-q", port=line.path, **options)
        radio = Radio(line)
        # A receiver that is ready sends an identity request.
        wait_until(lambda: radio.count(17), 10, "an identity request")
        return receiver, radio

    def stream(self, radio, collars, count, at_each_step):
        """Sends `count` fixes of each collar, in turns. After every tenth turn all collars poll."""
        radio.send(b"".join(collar.identity() for collar in collars))
        for first in range(0, count, RUN):
            for collar in collars:
                radio.send(collar.fixes(first, RUN))
            if first // RUN % 10 == 9:
                for collar in collars:
                    answer, seconds = radio.poll(collar, first + RUN, 20, 1 + first // RUN % 7)
                    self.assertEqual(answer["first_missing"], first + RUN)
                    at_each_step(first + RUN, seconds)

    def test_ten_collars(self):
        """Ten collars send 200,000 fixes each, as fast as the receiver reads: memory does not grow."""
        collars = [FastCollar(0xAB00 + number, 100 + number, 1 + number) for number in range(10)]
        with open("/dev/null", "wb") as nowhere:
            receiver, radio = self.begin(stdout=nowhere)
        samples = []
        self.stream(radio, collars, 200_000, lambda *_: samples.append(anonymous_kib(receiver.pid)))
        receiver.stop()
        # A buffer grows to its size once, when the disk or the machine is slow, which may be late in the run, and a
        # large one is given back. Memory that grows with the fixes grows in each tenth of the run.
        tenths = samples[::len(samples) // 10]
        growth = statistics.median(after - before for before, after in zip(tenths, tenths[1:]))
        print(f"RssAnon {samples[0]} KiB, at most {max(samples)} KiB, {growth:.0f} KiB a tenth ", end="", flush=True)
        self.assertLessEqual(growth, TENTH_GROWTH, samples)
        self.assertLessEqual(max(samples), statistics.median(samples) + 3 * GROWTH, samples)

    def test_a_consumer_that_sleeps_for_eight_hours(self):
        """288,000 fixes come in while nobody reads: answers stay quick, memory does not grow; all lines come later."""
        count = 288_000
        collar = FastCollar(0xC0FFEE, 77, 9)
        receiver, radio = self.begin(reads_output=False)
        samples, times = [], []

        def look(_, seconds):
            samples.append(anonymous_kib(receiver.pid))
            times.append(seconds)
        self.stream(radio, [collar], count, look)
        quarter = len(times) // 4
        early, late = sorted(times[:quarter])[quarter // 2], sorted(times[-quarter:])[quarter // 2]
        print(f"answers after {1000 * early:.1f} ms, at last {1000 * late:.1f} ms; RssAnon {samples[quarter]} KiB, "
              f"at last {samples[-1]} KiB ", end="", flush=True)
        self.assertLessEqual(max(samples[quarter:]), samples[quarter] + GROWTH, samples)
        # Answers at the end take no longer than at the beginning; a busy machine does not reach this factor.
        self.assertLess(late, 10 * early + 0.1)
        # The test reads one line at a time, so that it does not keep all lines in memory.
        expected = 0
        began = time.monotonic()
        for line in receiver.process.stdout:
            fix = json.loads(line)
            self.assertEqual(fix["seq"], expected, "not in order, or not once")
            expected += 1
            if expected == count:
                break
        print(f"read in {time.monotonic() - began:.1f} s ", end="", flush=True)
        # Reading the journal back needs buffers of its own; all lines together would be 90 MB.
        self.assertLessEqual(anonymous_kib(receiver.pid), samples[quarter] + 2 * GROWTH)
        receiver.process.terminate()
        self.assertEqual(receiver.process.stdout.read(), b"", "a line came twice")
        self.assertEqual(receiver.wait(), 0)
