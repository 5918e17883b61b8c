"""Much for long: memory stays flat, and a consumer that stands still for hours gets everything in the end.

Tools/bench week sends sixty million fixes; these send enough to see growth.
"""

import json
import pathlib
import time

from collarlink import EndToEndTest, wait_until
from fast_collar import FastCollar
from radio import Radio
from serial_line import SerialLine

# KiB that the anonymous memory may grow once it has settled. Buffers take their size late, and so does the heap: 2.4
# million fixes add 440 KiB, most of it early. A byte a fix would add 488 KiB in the second half of the ten collars.
GROWTH = 448
RUN = 500  # fixes of one collar before it is the next one's turn


def anonymous_kib(pid):
    """RssAnon of a process."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text("ascii")
    return int(status.partition("RssAnon:")[2].split()[0])


class LongRunTest(EndToEndTest):
    def begin(self, **options):
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive("-q", port=line.path, **options)
        radio = Radio(line)
        # It asks who is there when it is ready.
        wait_until(lambda: radio.count(17), 10, "an identity request")
        return receiver, radio

    def stream(self, radio, collars, count, at_each_step):
        """Sends so many fixes of each collar, in turns; now and then all of them ask."""
        radio.send(b"".join(collar.identity() for collar in collars))
        for first in range(0, count, RUN):
            for collar in collars:
                radio.send(collar.fixes(first, RUN))
            if first // RUN % 10 == 9:
                for collar in collars:
                    answer, seconds = radio.ask(collar, first + RUN, 20, 1 + first // RUN % 7)
                    self.assertEqual(answer["first_missing"], first + RUN)
                    at_each_step(first + RUN, seconds)

    def test_ten_collars(self):
        """A day of ten collars with 100,000 fixes each, as fast as it goes: memory does not grow."""
        collars = [FastCollar(0xAB00 + number, 100 + number, 1 + number) for number in range(10)]
        with open("/dev/null", "wb") as nowhere:
            receiver, radio = self.begin(stdout=nowhere)
        samples = []
        self.stream(radio, collars, 100_000, lambda *_: samples.append(anonymous_kib(receiver.pid)))
        receiver.stop()
        # Buffers take their size in the first half.
        settled = max(samples[:len(samples) // 2])
        print(f"RssAnon {settled} KiB, then at most {max(samples)} KiB ", end="", flush=True)
        self.assertLessEqual(max(samples), settled + GROWTH, samples)

    def test_a_consumer_that_sleeps_for_eight_hours(self):
        """288,000 fixes come in while nobody reads: answers are as quick as ever, memory stays; then all lines come."""
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
        # An hour later an answer takes no longer: a factor that a busy machine does not reach.
        self.assertLess(late, 10 * early + 0.1)
        # One by one: whatever is kept would be twenty times what the receiver may.
        expected = 0
        began = time.monotonic()
        for line in receiver.process.stdout:
            fix = json.loads(line)
            self.assertEqual(fix["seq"], expected, "not in order, or not once")
            expected += 1
            if expected == count:
                break
        print(f"read in {time.monotonic() - began:.1f} s ", end="", flush=True)
        # Reading back takes buffers of its own; all the lines together would be 90 MB.
        self.assertLessEqual(anonymous_kib(receiver.pid), samples[quarter] + 2 * GROWTH)
        receiver.process.terminate()
        self.assertEqual(receiver.process.stdout.read(), b"", "a line came twice")
        self.assertEqual(receiver.wait(), 0)
