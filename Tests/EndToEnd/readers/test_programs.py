"""Other programs that read the lines of collar-link: jq and an MQTT broker."""

import os
import shutil
import unittest

from end_to_end import ROOT, EndToEndTest, child_environment, wait_until
from servers import free_port, is_listening


class ProgramTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.simulate(self.track("cats_uk/Felix-Tag")[0], "--speed", "max")

    @unittest.skipUnless(shutil.which("jq"), "needs jq")
    def test_jq(self):
        receiver = self.receive("-n", "20", reads_output=False)
        program = 'length==20 and all(.type=="fix" and (.coordinate.latitude|type)=="number" and .seq>=0)'
        jq = self.start(["jq", "-se", program], stdin=receiver.process.stdout)
        self.assertEqual(jq.wait(10), 0, jq.error_text)
        self.assertEqual(jq.lines, ["true\n"])

    @unittest.skipUnless(shutil.which("mosquitto"), "needs mosquitto")
    def test_mqtt(self):
        """Each line becomes an MQTT message."""
        port = free_port()
        # The broker's libraries may be in a private folder, which an ordinary user cannot read if the checkout is in a
        # private home directory. The broker uses none of this machine's configuration.
        environment = child_environment(LD_LIBRARY_PATH=os.environ.get("PRIVATE_LIBRARIES", ""))
        as_whoever_we_are = {"user": None, "group": None, "extra_groups": None}
        broker_options = {} if os.access(ROOT, os.X_OK) else as_whoever_we_are
        address = ["-h", "127.0.0.1", "-p", str(port), "-t", "collar"]
        self.start(["mosquitto", "-p", str(port)], environment=environment, **broker_options)
        wait_until(lambda: is_listening(port), 10, "the broker")
        # A persistent session: from now on the broker keeps messages for it.
        subscribe = ["mosquitto_sub", *address, "-q", "1", "-c", "-i", "test"]
        self.assertEqual(self.start([*subscribe, "-E"], environment=environment).wait(10), 0)
        receiver = self.receive("-n", "5", reads_output=False)
        publisher = self.start(["mosquitto_pub", *address, "-q", "1", "-l"], environment=environment,
                               stdin=receiver.process.stdout)
        self.assertEqual(publisher.wait(10), 0, publisher.error_text)
        subscriber = self.start([*subscribe, "-C", "5"], environment=environment)
        self.assertEqual(subscriber.wait(10), 0, subscriber.error_text)
        self.assertEqual([fix["type"] for fix in subscriber.fixes], ["fix"] * 5)
        self.assertEqual(len({fix["id"] for fix in subscriber.fixes}), 5)
        self.assertEqual(receiver.wait(5), 0)
