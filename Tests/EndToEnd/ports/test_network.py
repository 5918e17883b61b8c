"""Radios at other machines, over TCP."""

import os
import shutil
import socket
import time
import unittest

from end_to_end import BINARY, EndToEndTest, child_environment, wait_until
from network_bridge import NetworkBridge

# Seconds between attempts to connect.
PAUSES = (1, 4, 9)
FIXES = 30


def unused_address():
    """An address of this machine at which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return f"tcp://127.0.0.1:{found.getsockname()[1]}"


class NetworkTest(EndToEndTest):
    def bridge(self, *arguments, **options):
        bridge = NetworkBridge(*arguments, **options)
        self.addCleanup(bridge.end)
        return bridge

    def collar(self, *arguments, fixes=FIXES, interval="0.1", **options):
        """Starts a collar that makes a fix after each interval. Returns it and the number of its fixes."""
        track, sent = self.track("cats_uk/Amber-Tag", fixes)
        return self.simulate(track, "--interval", interval, "--until-delivered", *arguments, **options), len(sent)

    def arrive(self, receiver, collar, count):
        """Checks that every fix arrives once."""
        self.assertEqual(collar.wait(60), 0, collar.error_text)
        receiver.wait_for_lines(count)
        self.assertEqual(receiver.stop(), 0)
        self.assert_each_once(receiver.fixes, count)

    def test_a_track(self):
        collar, count = self.collar()
        self.arrive(self.receive(port=self.bridge(self.link).port), collar, count)

    def test_a_track_in_pieces(self):
        """A bridge of Bluetooth LE splits and merges the bytes at will, and delays them: nothing is lost."""
        collar, count = self.collar("--stats")
        receiver = self.receive("-v", port=self.bridge(self.link, piece=20).port)
        self.arrive(receiver, collar, count)
        self.assertIn("0 damaged", receiver.error_text)

    def test_a_stick_in_pieces(self):
        """A stick that is found over the network, and whose packets come in pieces."""
        collar, count = self.collar("--dialect", "rnode", "--modem", "lora:SF9", fixes=5, interval="1")
        bridge = self.bridge(self.link, piece=20)
        receiver = self.start(
            [BINARY, "--port", bridge.port, "--region", "EU868", "--state-dir", self.state, "-v"])
        self.arrive(receiver, collar, count)

    def test_a_stick_in_a_network_that_delays(self):
        """A mobile network or a VPN delays bytes by a second: a stick is found and set up, without a message of a failure."""
        self.collar("--dialect", "kiss", "--modem", "lora:SF7")
        receiver = self.start([
            BINARY, "--port", self.bridge(self.link, delay=1).port, "--region", "EU868", "--spreading-factor", "7", "--state-dir",
            self.state, "--events", "error"])
        receiver.wait_for_error("the radio is set to 869.525 MHz", 20)
        self.assertEqual(receiver.stop(), 0)
        self.assertEqual(receiver.fixes, [])

    def test_without_a_dialect(self):
        """The dialect is found out over the network, too."""
        collar, count = self.collar()
        receiver = self.start([BINARY, "--port", self.bridge(self.link).port, "--state-dir", self.state])
        self.arrive(receiver, collar, count)

    @unittest.skipUnless(shutil.which("socat"), "socat is not unpacked")
    def test_socat(self):
        collar, count = self.collar()
        port = unused_address().rpartition(":")[2]
        # Libraries of a package that is not installed.
        libraries = os.environ.get("PRIVATE_LIBRARIES", "")
        self.start(
            ["socat", f"TCP-LISTEN:{port},bind=127.0.0.1,reuseaddr,fork", f"FILE:{self.link},raw,echo=0"],
            environment=child_environment(LD_LIBRARY_PATH=libraries))
        self.arrive(self.receive(port=f"tcp://127.0.0.1:{port}"), collar, count)

    def test_a_machine_that_returns(self):
        """The machine is lost and returns: what the collar made meanwhile arrives, and each change is reported once."""
        collar, count = self.collar(fixes=150)
        bridge = self.bridge(self.link)
        receiver = self.receive(port=bridge.port)
        receiver.wait_for_lines(10)
        bridge.end()
        receiver.wait_for_error("cannot be reached")
        # The pauses between attempts are 1, 4 and 9 seconds.
        time.sleep(2)
        bridge.begin()
        self.arrive(receiver, collar, count)
        for words in (f"The connection to {bridge.port} ended", "cannot be reached"):
            self.assertEqual(receiver.error_text.count(words), 1, receiver.error_text)
        self.assertEqual(receiver.error_text.count(f"listening on {bridge.port}"), 2, receiver.error_text)

    def test_pauses(self):
        """A machine that closes each connection at once is called after 1, 4, 9 and 9 s, which is reported once."""
        bridge = self.bridge(hangs_up=True)
        receiver = self.receive(port=bridge.port)
        wait_until(lambda: len(bridge.calls) == 4, 20, "four calls")
        pauses = [after - before for before, after in zip(bridge.calls, bridge.calls[1:])]
        for pause, expected in zip(pauses, PAUSES):
            self.assertAlmostEqual(pause, expected, delta=0.5)
        self.assertEqual(receiver.stop(), 0)
        self.assertEqual(receiver.error_text.count("listening on"), 1, receiver.error_text)
        self.assertEqual(receiver.error_text.count("ended; it is made again"), 1, receiver.error_text)

    def test_a_machine_that_hung_up_and_serves(self):
        """After connections that ended at once, one lasts: that is reported when bytes come in."""
        collar, count = self.collar()
        bridge = self.bridge(self.link, hangs_up=True)
        receiver = self.receive(port=bridge.port)
        wait_until(lambda: len(bridge.calls) == 2, 5, "two calls")
        bridge._hangs_up = False
        self.arrive(receiver, collar, count)
        self.assertEqual(receiver.error_text.count("listening on"), 2, receiver.error_text)

    def test_a_refused_port(self):
        address = unused_address()
        receiver = self.receive(port=address)
        receiver.wait_for_error(address)
        time.sleep(2.5)
        self.assertEqual(receiver.stop(), 0)
        self.assertEqual(receiver.error_text.count("Connection refused"), 1, receiver.error_text)

    def test_a_name_that_does_not_resolve(self):
        receiver = self.receive(port="tcp://radio.invalid:4001")
        receiver.wait_for_error("radio.invalid", 20)
        self.assertEqual(receiver.stop(), 0)

    def test_without_reconnecting(self):
        for address in (unused_address(), "tcp://radio.invalid:4001"):
            receiver = self.receive("--no-reconnect", port=address)
            self.assertEqual(receiver.wait(20), 69, receiver.error_text)
            self.assert_one_message(receiver)
            self.assertIn(address, receiver.error_text)

    def test_without_reconnecting_after_the_end(self):
        """The end of the connection ends the receiver."""
        bridge = self.bridge(hangs_up=True)
        receiver = self.receive("--no-reconnect", port=bridge.port)
        self.assertEqual(receiver.wait(5), 69, receiver.error_text)

    def test_an_address_of_version_6(self):
        collar, count = self.collar()
        try:
            bridge = self.bridge(self.link, host="::1")
        except OSError:
            self.skipTest("there is no IPv6 here")
        self.assertIn("[::1]", bridge.port)
        self.arrive(self.receive(port=bridge.port), collar, count)

    def test_a_name(self):
        collar, count = self.collar()
        port = self.bridge(self.link).port.replace("127.0.0.1", "localhost")
        self.arrive(self.receive(port=port), collar, count)

    def test_bad_addresses(self):
        for address in ("tcp://host", "tcp://:1", "tcp://h:0", "tcp://h:99999", "tcp://h:+1", "tcp://h:", "tcp://", "tcp://::1:1",
                        "tcp://[::1]", "tcp://a b:1"):
            receiver = self.receive(port=address)
            self.assertEqual(receiver.wait(5), 64, address)
            self.assert_one_message(receiver)
            self.assertIn(f"An address in `--port` is tcp://HOST:PORT, not '{address}'.", receiver.error_text)

    def test_beside_a_local_port(self):
        """A radio over TCP and one at a port of this machine, with a collar each."""
        near, count = self.collar("--seed", "1")
        far, _ = self.collar("--seed", "2", link=self.path("far"))
        bridge = self.bridge(self.path("far"))
        receiver = self.receive("--port", bridge.port, "--dialect", "serial")
        for collar in (near, far):
            self.assertEqual(collar.wait(60), 0, collar.error_text)
        receiver.wait_for_lines(2 * count)
        self.assertEqual(receiver.stop(), 0)
        self.assertEqual(len({fix["id"] for fix in receiver.fixes}), 2 * count)

    def test_beside_discovery(self):
        """Radios are looked for beside one over TCP."""
        collar, count = self.collar()
        receiver = self.receive("--port", "auto", port=self.bridge(self.link).port)
        self.arrive(receiver, collar, count)
