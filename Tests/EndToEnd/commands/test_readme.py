"""The README: every command of it in the order in which it appears, its line of JSON, its table, its size, its links."""

import json
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import unittest

import servers
from end_to_end import BINARY, ROOT, child_environment, give_to_ordinary_user, wait_until
from gnss_bytes import ReceiverAtLine
from hotplug import SimulatedMachineTest
from linux_collar import STICK_PAIR, fixes_from_now
from serial_line import Bridge

README = (ROOT / "README.md").read_text(encoding="utf-8")
IDENTITY = "910a2b3c4d5e6f70"
# The folders and files of the checkout that commands of the README name.
CHECKOUT = ("Protocol", "Sources", "Tests", "hardware", "Tools/recipes", "Tools/run", "Tools/lib/setup.sh")
# Rules are written to a folder of the test, and /etc stays as it is.
WITH_OWN_RULES = ["unshare", "--mount", "sh", "-c", 'mount --bind "$1" /etc/udev/rules.d && shift && exec "$@"', "sh"]


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


class ReadmeTextTest(unittest.TestCase):
    def test_it_is_short(self):
        self.assertLessEqual(len(README.encode()), 10_240)
        prose = re.sub(r"^```.*?^```", "", README, flags=re.MULTILINE | re.DOTALL)
        for paragraph in prose.split("\n\n"):
            if not paragraph.lstrip().startswith("|"):
                self.assertLessEqual(len(paragraph.split()), 80, paragraph)

    def test_its_links_lead_somewhere(self):
        links = re.findall(r"\]\(([^)]+)\)", README)
        self.assertGreater(len(links), 20)
        for link in links:
            if link.startswith("https://"):
                continue
            path, _, anchor = link.partition("#")
            with self.subTest(link=link):
                self.assertTrue((ROOT / path).exists(), path)
                if anchor:
                    headings = re.findall(r"^#+ (.*)$", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
                    names = [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings]
                    self.assertIn(anchor, names)

    def test_its_table_has_the_keys_of_its_line(self):
        (line,) = blocks("json")
        rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", README, re.MULTILINE)
        listed = [key for row in rows for key in re.findall(r"`(\w+)`", row)]
        self.assertEqual(sorted(listed), sorted(json.loads(line)))

    def test_its_resolutions_are_those_of_the_program(self):
        """A value comes out within half a step of the resolution, and not always nearer than a quarter."""
        columns = {key: cells for cells in re.findall(r"^\| (.*?) \| (.*?) \| (.*?) \|$", README, re.MULTILINE)
                   for key in re.findall(r"`(\w+)`", cells[0])}

        def step(key):
            return float(columns[key][2].replace("10⁻⁵ (1.1 m) or finer", "1e-5").split()[0])
        chance = random.Random(7)
        sent = []
        for seq in range(400):
            sent.append({
                "ts_unix_ms": 1_700_000_000_000 + chance.randrange(10 ** 9), "source": "collar", "seq": seq,
                "coordinate": {"latitude": chance.uniform(-80, 80), "longitude": chance.uniform(-179, 179)},
                "alt_m": chance.uniform(0, 900), "h_accuracy_m": chance.uniform(1, 900), "v_accuracy_m": chance.uniform(1, 900),
                "speed_mps": chance.uniform(0, 30), "course_deg": chance.uniform(0, 358), "heading_deg": chance.uniform(0, 358),
                "battery_pct": chance.uniform(0, 100)})
        lines = "".join(json.dumps(fix) + "\n" for fix in sent).encode()
        frames = subprocess.run([BINARY, "encode", "-"], input=lines, capture_output=True, check=True).stdout
        decoded = subprocess.run([BINARY, "decode", "-"], input=frames, capture_output=True, check=True).stdout
        received = [json.loads(line) for line in decoded.splitlines()]
        self.assertEqual(len(received), len(sent))

        def values(fix):
            return {**fix, **fix["coordinate"]}
        steps = {"latitude": step("coordinate"), "longitude": step("coordinate")}
        steps.update({key: step(key) for key in ("ts_unix_ms", "alt_m", "speed_mps", "course_deg", "heading_deg", "battery_pct")})
        for key, size in steps.items():
            errors = [abs(values(a)[key] - values(b)[key]) for a, b in zip(sent, received)]
            with self.subTest(key=key):
                self.assertLessEqual(max(errors), size / 2 * 1.001)
                if key != "ts_unix_ms":
                    self.assertGreater(max(errors), size / 4)
        self.assertEqual(columns["h_accuracy_m"][2], "9 % steps")
        for key in ("h_accuracy_m", "v_accuracy_m"):
            errors = [abs(b[key] / a[key] - 1) for a, b in zip(sent, received)]
            self.assertLessEqual(max(errors), 0.045, key)
            self.assertGreater(max(errors), 0.0225, key)


class Shell:
    """A shell that gets one command at a time. Its jobs stay in the background."""

    def __init__(self, test, command, environment, folder):
        self._log = test.path("shell.log")
        with open(self._log, "wb") as log:
            self._program = subprocess.Popen(
                [*command, "bash"], cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                start_new_session=True)
        test.addCleanup(self.close)

    def run(self, command):
        """Runs a command. Returns its exit code, its output, and what it and the jobs wrote to stderr meanwhile."""
        start = os.path.getsize(self._log)
        self._program.stdin.write(f"{command}\nprintf '\\n=%s=\\n' $?\n".encode())
        self._program.stdin.flush()
        output = []
        for line in self._program.stdout:
            if end := re.fullmatch(rb"=(\d+)=\n", line):
                text = b"".join(output).decode()
                return int(end[1]), text.removesuffix("\n"), pathlib.Path(self._log).read_bytes()[start:].decode()
            output.append(line)
        raise AssertionError(f"the shell ended at: {command}")

    def close(self):
        os.killpg(self._program.pid, signal.SIGTERM)
        try:
            self._program.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self._program.pid, signal.SIGKILL)
            self._program.wait()
        self._program.stdin.close()
        self._program.stdout.close()


@unittest.skipUnless(servers.ARE_HERE, "needs PostgreSQL and mosquitto, which Tools/test unpacks")
@unittest.skipUnless(os.geteuid() == 0, "needs root, to write rules to /etc of its own")
class ReadmeCommandsTest(SimulatedMachineTest):
    """Stand-ins take the place of what the test cannot have: root (`sudo`), a running udevd (`udevadm`), a board to write firmware to
    (`esptool`), and Tools/test, of which this test is a part. Tools/run finds the tested program already built: `Tools/check first-fix`
    builds it. Two simulated MeshCore sticks and a u-blox receiver are plugged in as /dev/ttyUSB0, /dev/ttyUSB1 and /dev/ttyACM0."""

    def setUp(self):
        super().setUp()
        self.home = self.path("home")
        self.checkout = self.path("checkout")
        for folder in (self.home, self.path("bin"), self.path("rules.d"), self.checkout,
                       *(f"{self.checkout}/{name}" for name in ("Tools", "Tools/lib", ".build", ".build/release"))):
            os.mkdir(folder)
            give_to_ordinary_user(folder)
        for name in CHECKOUT:
            os.symlink(ROOT / name, f"{self.checkout}/{name}")
        os.symlink(BINARY, f"{self.checkout}/.build/release/collar-link")
        self.script(f"{self.checkout}/Tools/lib/build.sh",
                    "binary=$root/.build/release/collar-link; setup_build() { :; }; build_release() { :; }")
        self.script(f"{self.checkout}/Tools/firmware", f'exec {shlex.quote(str(ROOT / "Tools/firmware"))} "$@"')
        self.script(f"{self.checkout}/Tools/test", f'bash -n {shlex.quote(str(ROOT / "Tools/test"))}')
        self.script(self.path("bin/sudo"), 'exec "$@"')
        self.script(self.path("bin/esptool"), f'echo "$@" >{self.path("esptool.log")}')
        self.script(self.path("bin/udevadm"), "")
        self.nodes = [self.plug(name, serial=serial, manufacturer="Silicon Labs", model="CP2102")
                      for name, serial in (("ttyUSB0", "A1"), ("ttyUSB1", "A2"), ("ttyACM0", "A3"))]
        self.broker = servers.Broker(self)
        self.database = servers.PostgreSQL(self)
        servers.Recipes(self.database.environment).run("postgresql/set-up")
        tools = {**self.database.environment, **self.broker.environment}
        environment = child_environment(HOME=self.home, PATH=f"{self.path('bin')}:{tools['PATH']}")
        for name, value in tools.items():
            if name.startswith(("PG", "MQTT_", "LD_")):
                environment[name] = value
        self.shell = Shell(self, [*WITH_OWN_RULES, self.path("rules.d")], environment, self.checkout)

    @staticmethod
    def script(path, text):
        with open(path, "w", encoding="ascii") as file:
            file.write(f"#!/bin/bash\n{text}\n")
        os.chmod(path, 0o755)

    def prepared(self, command):
        """A command with what its surroundings do for it: a person ends the demonstration and agrees, and the kernel shows the stick."""
        if command == "./Tools/run":
            return "./Tools/run | head -n 2"
        if "/dev/tty" in command or "--region" in command:
            with_stick = f"env LD_PRELOAD={os.environ['LD_PRELOAD']} UMOCKDEV_DIR={self.machine} "
            if " mark " in command:
                return f"echo y | {with_stick} script -qec {shlex.quote(command)} /dev/null"
            return with_stick + command
        return command

    def test_every_command_in_its_order(self):
        commands = [re.sub(r"\s+#.*", "", line) for block in blocks("sh")
                    for line in re.sub(r"\\\n\s*", " ", block).splitlines()]
        self.assertGreater(len(commands), 20)
        results = {}
        for command in commands:
            if command == "collar-link --region EU868 --duration 20":
                self.plug_in()
            code, output, errors = self.shell.run(self.prepared(command))
            self.assertIn(code, (0, 1) if command == "collar-link doctor" else (0,), f"{command}: {output}{errors}")
            results[command] = output, errors
            if "--key-file cat.key" in command:
                wait_until(lambda: os.path.exists(f"{self.checkout}/cat.key"), 10, "the collar's key")

        def result(text):
            (found,) = [value for command, value in results.items() if text in command]
            return found
        self.assertEqual([json.loads(line)["type"] for line in result("./Tools/run")[0].splitlines()], ["fix", "fix"])
        self.assertIn("usage: collar-link", result("collar-link help")[0])
        self.assertIn("--port /dev/ttyUSB1 write-flash 0x0", pathlib.Path(self.path("esptool.log")).read_text())
        rules = {path.name: path.read_text() for path in pathlib.Path(self.path("rules.d")).iterdir()}
        self.assertIn('ATTRS{serial}=="A1"', rules["69-my-collar-link.rules"])
        self.assertIn("70-collar-link.rules", rules)
        self.assertIn("MeshCore KISS modem", result("--duration 20")[1])
        self.assertIn("the radio is set to 869.525 MHz", result("--duration 20")[1])
        self.assertEqual(self.fixes(result("--region EU868 --count 5")[0]), 5)
        self.assertNotIn("in clear", result("--region EU868 --count 5")[1])
        self.assertIn("done", result("send --collar")[0])
        self.assertIn(f"Athena  ({IDENTITY})", result("collar-link status")[0])
        self.assertIn("<trkpt", self.written("walk.gpx"))
        self.assertGreaterEqual(self.fixes(self.written("positions.jsonl")), 5)
        self.assertGreaterEqual(int(self.database.rows("SELECT count(*) FROM collars.fixes WHERE name = 'Athena'")[0][0]), 5)
        self.assertIn(f"collars/{IDENTITY}/last", [topic for topic, _ in self.broker.retained("collars/+/last")])
        self.assertEqual(self.fixes(result("--port /tmp/sealed")[0]), 5)
        self.assertNotIn("in clear", result("--port /tmp/sealed")[1])

    def plug_in(self):
        """What udev does after the mark; and what is at the ports."""
        self.testbed.set_property("ttyUSB0", "COLLAR_LINK", "1")
        ends = [self.path("host"), self.path("collar")]
        self.start([STICK_PAIR, "kiss", "0", "1", ends[1], ends[0]])
        for node, end in zip(self.nodes, ends):
            wait_until(lambda: os.path.exists(end), 5, "a stick")
            bridge = Bridge(self.testbed.master_fd(node), end)
            self.addCleanup(bridge.close)
        player = ReceiverAtLine(self.testbed.master_fd(self.nodes[2]), fixes_from_now(300))
        self.addCleanup(player.close)
        player.start()

    def written(self, name):
        with open(f"{self.checkout}/{name}", encoding="utf-8") as file:
            return file.read()

    @staticmethod
    def fixes(text):
        return sum(json.loads(line)["type"] == "fix" for line in text.splitlines() if line.startswith("{"))

    def test_its_line_is_what_the_program_writes(self):
        """All but the time of reception and the signal, which chance decides."""
        (line,) = blocks("json")
        expected = json.loads(line)
        track, _ = self.track("cats_uk/Athena")
        self.simulate(track, "--seed", "1", "--noise", "3", "--modem", "lora:SF7", "--dialect", "kiss")
        environment = child_environment(HOME=self.home)
        naming = self.start([BINARY, "name", expected["collar"], expected["name"]], environment=environment)
        self.assertEqual(naming.wait(), 0, naming.error_text)
        program = self.start(
            [BINARY, "--port", self.link, "--region", "EU868", "--spreading-factor", "7", "-n", "1"], environment=environment)
        self.assertEqual(program.wait(20), 0, program.error_text)
        (written,) = program.lines
        self.assertEqual(list(json.loads(written)), list(expected), "the keys and their order")
        chance = dict.fromkeys(("rx_unix_ms", "rssi_dbm", "snr_db"))
        self.assertEqual({**json.loads(written), **chance}, {**expected, **chance})


if __name__ == "__main__":
    unittest.main()
