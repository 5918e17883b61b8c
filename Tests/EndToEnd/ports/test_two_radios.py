"""Two radios over TCP that hear the same collar. SeveralRadiosTests has the cases, late copies and dying radios among them."""


from end_to_end import BINARY, EndToEndTest
from many_radios import ACKNOWLEDGEMENT, Field, NetworkRadio
from signal_reports import report

from report_vectors import RADIO, RADIO_IDENTITY
from session_parts import A
import frames
from wire import stuff

STRENGTHS = (-60, -100)
BURST = 6


class TwoRadiosTest(EndToEndTest):
    """Each radio passes on what the collar sends, with a signal report. The first one hears it better."""

    def setUp(self):
        super().setUp()
        self.answers = []
        self.field = Field(NetworkRadio, 2)
        self.addCleanup(self.field.close)
        self.radios = self.field.radios
        for radio in self.radios:
            radio.on_frame(lambda frame, radio=radio: self.hear(radio, frame))
        ports = [word for radio in self.radios for word in ("--port", radio.port)]
        self.receiver = self.start([BINARY, *ports, "--dialect", "serial", "--state-dir", self.state])
        self.assertTrue(self.field.run(10, lambda: self.field.is_connected), self.receiver.error_text)
        for radio in self.radios:
            radio.send(stuff(frames.encode(10, RADIO_IDENTITY, RADIO)) + A.identity())
        self.receiver.wait_for_error("is heard at")
        self.field.run(0.2)

    def hear(self, radio, frame):
        if frame[0] & 0x1F == ACKNOWLEDGEMENT:
            self.answers.append((self.radios.index(radio), frames.decode(frame, A.log).decoded))

    def send(self, packet):
        """The collar sends a packet. The first radio delivers it last."""
        for number in (1, 0):
            self.radios[number].send(packet + report(packet, STRENGTHS[number]))

    def answered(self, first_missing):
        """Waits until all is acknowledged. Returns which radios carried the answers of the last half second."""
        def is_complete():
            return any(answer["first_missing"] == first_missing for _, answer in self.answers)
        self.assertTrue(self.field.run(5, is_complete), self.answers)
        self.field.run(0.7)
        radios = [radio for radio, _ in self.answers]
        self.answers.clear()
        return radios

    def finish(self, count):
        self.receiver.wait_for_lines(count)
        self.assertEqual(self.receiver.stop(), 0)
        self.assert_each_once(self.receiver.fixes, count)

    def test_the_better_radio(self):
        """Each fix appears once, and the answer leaves once, through the radio that hears the collar better."""
        for number in range(3):
            self.send(A.fix(number, poll=1 + number))
            self.assertEqual(self.answered(number + 1), [0])
        self.finish(3)

    def test_a_radio_that_dies_in_a_burst(self):
        """The better radio is lost in the middle of a burst: the other one has heard it all, and carries the answer."""
        for burst in range(2):
            first = burst * BURST
            for number in range(first, first + BURST):
                is_last = number == first + BURST - 1
                if number == first + BURST // 2:
                    self.radios[0].end()
                self.send(A.fix(number, poll=1 + burst if is_last else 0))
            self.assertEqual(self.answered(first + BURST), [1])
            self.radios[0].begin()
            self.assertTrue(self.field.run(15, lambda: self.field.is_connected), self.receiver.error_text)
            self.radios[0].send(stuff(frames.encode(10, RADIO_IDENTITY, RADIO)))
        self.finish(2 * BURST)
