"""Alerts: a walk out of a place and back, as `deliver`, `follow` and `history` tell it, and the recipes that pass alerts on."""

import base64
import email
import json
import pathlib
import socketserver
import threading
import time

from command_case import CommandTest
from end_to_end import BINARY, ROOT, give_to_ordinary_user, wait_until
from push_server import PushServer
from schemas import SCHEMAS

HOME = (50.17, -5.11)
RECIPES = ROOT / "Tools/recipes/alerts"


def fix(seconds, meters, started, **more):
    """A fix at a distance north of home."""
    return {"ts_unix_ms": int(1000 * (started + seconds)), "source": "collar",
            "coordinate": {"latitude": HOME[0] + meters / 111_230, "longitude": HOME[1]}, "h_accuracy_m": 4.833, **more}


class MailServer(socketserver.ThreadingTCPServer):
    """Takes mails as RFC 5321 says, as far as a client needs it."""

    allow_reuse_address = True

    def __init__(self, test):
        self.mails = []
        outer = self

        class Handler(socketserver.StreamRequestHandler):
            def say(self, line):
                self.wfile.write(line.encode() + b"\r\n")

            def handle(self):
                self.say("220 mail.example.org")
                envelope = []
                while line := self.rfile.readline().decode().rstrip("\r\n"):
                    word = line.split(" ")[0].upper()
                    if word == "DATA":
                        self.say("354 go on")
                        data = b""
                        while (part := self.rfile.readline()) != b".\r\n":
                            data += part
                        outer.mails.append((envelope, email.message_from_bytes(data)))
                        self.say("250 taken")
                    elif word == "QUIT":
                        return self.say("221 bye")
                    else:
                        envelope.append(line)
                        self.say("250 ok")
                return None

        super().__init__(("127.0.0.1", 0), Handler)
        test.addCleanup(self.server_close)
        test.addCleanup(self.shutdown)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"smtp://127.0.0.1:{self.server_address[1]}"


class AlertTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.places = pathlib.Path(self.path("configuration/collar-link/places"))
        self.places.parent.mkdir(parents=True, exist_ok=True)
        self.places.write_text(f"[place home]\nat = {HOME[0]} {HOME[1]}\nradius = 60\n[alerts]\nfarther = 500\n", encoding="utf-8")
        for path in (self.folder, self.configuration, self.places.parent, self.places):
            give_to_ordinary_user(path)

    def receive_track(self, fixes, *options):
        """Stores fixes."""
        track = self.path("track.ndjson")
        pathlib.Path(track).write_text("".join(json.dumps(each) + "\n" for each in fixes), encoding="utf-8")
        collar = self.simulate(track, "--interval", "0.05", "--until-delivered", *options)
        receiver = self.receive("--events", "none", environment=self.environment)
        self.assertEqual(collar.wait(60), 0)
        self.assertEqual(receiver.stop(), 0)

    def alerts(self, command, *arguments, **options):
        lines = [json.loads(line) for line in
                 self.call(command, *arguments, "--state-dir", self.state, **options).splitlines()]
        for line in lines:
            SCHEMAS[line["type"]].validate(line)
        return [line for line in lines if line["type"] == "alert"]

    def deliver(self, *command, name="push", **environment):
        """A deliverer of alerts, each in a batch of its own."""
        return self.start([BINARY, "deliver", name, "--events", "alert", "--batch", "1", "--state-dir", self.state, "--", *map(str, command)],
                          environment={**self.environment, **environment})

    @staticmethod
    def walk(started):
        """Half an hour: at home, 600 m out, and back; a fix each 30 s."""
        distances = [0] * 10 + [60 * step for step in range(1, 11)] + [600] * 10 + [600 - 60 * step for step in range(1, 11)] + [0] * 20
        return [fix(30 * index, meters, started, battery_pct=25 - index // 10) for index, meters in enumerate(distances)]

    def test_a_walk(self):
        # A reader that is there before the walk, and is told of each alert once.
        started = time.time()
        self.receive_track(self.walk(started)[:5])
        push = self.deliver("tee", "-a", self.path("pushed"))
        reader = pathlib.Path(self.state, "readers/push.reader")
        wait_until(lambda: reader.exists() and "alert " in reader.read_text(), 10, "the reader has taken what is stored")
        self.receive_track(self.walk(started), "--seed", "1")
        kinds = ["left", "far", "near", "entered", "battery_low"]
        pushed = pathlib.Path(self.path("pushed"))
        wait_until(lambda: pushed.exists() and pushed.read_text().count("\n") == 5, 10, "five alerts")
        self.assertEqual(push.stop(), 0)
        lines = [json.loads(line) for line in pushed.read_text().splitlines()]
        for line in lines:
            SCHEMAS["alert"].validate(line)
        self.assertEqual([line["alert"] for line in lines], kinds)
        # The journal tells the same, with the same ids.
        stored = [line for line in self.alerts("history", "--events", "alert") if line["collar"] == lines[0]["collar"]]
        self.assertEqual([(line["alert"], line["id"]) for line in stored], [(line["alert"], line["id"]) for line in lines])
        self.assertEqual([line.get("owner") for line in lines], [None, "home", "home", None, None])
        left = lines[[line["alert"] for line in lines].index("left")]
        self.assertEqual((left["place"], left["since_unix_ms"] // 1000), ("home", int(started) + 30 * 10))
        self.assertEqual(left["text"], f"collar {left['collar']} left home")
        self.assertAlmostEqual(left["coordinate"]["latitude"], HOME[0] + 180 / 111_230, 4)
        # A reader that begins now hears of nothing, also after a restart.
        for _ in range(2):
            late = self.alerts("follow", "--events", "alert", "--as", "late", "-T", "0.3")
            self.assertEqual(late, [])

    def test_a_backlog_rings_nobody(self):
        started = time.time() - 8 * 3600
        distances = ([0] * 10 + [300] * 10) * 10
        self.receive_track([fix(140 * index, meters, started) for index, meters in enumerate(distances)])
        since = ("--since", "1h")
        lines = self.alerts("follow", "--events", "alert", "-T", "1", *since)
        self.assertEqual([line["alert"] for line in lines], ["left", "entered"] * 9 + ["left"])
        self.assertTrue(all(line["late"] for line in lines))
        self.assertEqual(lines, sorted(lines, key=lambda line: line["seq"]))
        young = self.alerts("follow", "--events", "alert", "-T", "1", "--alert-age", "30", *since)
        self.assertEqual(young, [line for line in lines if line["unix_ms"] > (time.time() - 1800) * 1000])
        self.assertLess(len(young), 3)

    def test_text_and_quiet_hours(self):
        zone = {"TZ": "UTC"}
        self.receive_track(self.walk(1_790_000_000))
        [collar] = {line["collar"] for line in self.alerts("history", "--events", "alert")}
        self.call("name", collar, "Athena")
        text = self.call("history", "--events", "alert", "-F", "text", "--state-dir", self.state, **zone)
        self.assertEqual([line.split("  ", 1)[1] for line in text.splitlines()], [
            "Athena left home", "Athena is farther than 500 m from the owner", "Athena is within 500 m of the owner again", "Athena entered home",
            "Athena: the battery is low, 20 %"])
        # The walk begins at 14:13:20 UTC.
        self.places.write_text(self.places.read_text() + "quiet = 14:25-14:50\n")
        quiet = [line.get("quiet", False) for line in self.alerts("history", "--events", "alert", **zone)]
        self.assertIn(True, quiet)
        self.assertIn(False, quiet)
        # Quiet hours are local, also where times are printed in UTC.
        self.assertEqual([line.get("quiet", False) for line in self.alerts("history", "--events", "alert", "--utc", TZ="UTC-3")],
                         [line.get("quiet", False) for line in self.alerts("history", "--events", "alert", TZ="UTC-3")])
        self.assertNotIn(True, [line.get("quiet", False) for line in self.alerts("history", "--events", "alert", "--utc", TZ="UTC-3")])
        # Private places hide positions in alerts, too.
        self.call("place", "home", f"{HOME[0]},{HOME[1]}", "--radius", "60", "--private")
        for command in (["history"], ["follow", "--since", "1d", "-T", "1"]):
            with self.subTest(command):
                lines = [json.loads(line) for line in
                         self.call(*command, "--events", "fix,alert", "--state-dir", self.state).splitlines()]
                self.assertEqual({line["name"] for line in lines}, {"Athena"})
                [entered] = [line for line in lines if line.get("alert") == "entered"]
                self.assertEqual((entered["coordinate"], entered["private"]), ({"latitude": HOME[0], "longitude": HOME[1]}, True))
                fixes = [line for line in lines if line["type"] == "fix"]
                self.assertEqual(fixes[0]["coordinate"], {"latitude": HOME[0], "longitude": HOME[1]})
                self.assertGreater(sum("private" in line for line in fixes), 20)

    def test_wrong_options(self):
        for arguments in (["follow", "--acknowledge", "--as", "x", "--events", "alert"], ["follow", "--events", "alert", "-F", "csv"],
                          ["follow", "--events", "alert", "--sort", "arrival"], ["follow", "--alert-age", "5"],
                          ["follow", "--alert-age", "0", "--events", "alert"], ["history", "--last", "1", "--events", "alert"],
                          ["run", "--events", "alert"]):
            with self.subTest(arguments):
                self.call(*arguments, code=64)
                self.assertIn("collar-link", self.errors)

    def test_push_mail_and_web(self):
        push, mail, web = PushServer(self, refusals=1), MailServer(self), PushServer(self, "web")
        self.receive_track(self.walk(1_790_000_000)[:1])
        programs = [
            self.deliver(RECIPES / "push", NTFY_URL=push.url, NTFY_TOKEN="secret"),
            self.deliver(RECIPES / "mail", name="mail", SMTP_URL=mail.url, MAIL_FROM="cat@example.org", MAIL_TO="me@example.org"),
            self.deliver("curl", "-fsS", "-H", "Content-Type: application/json", "--data-binary", "@-", web.url, name="web")]
        for name in ("push", "mail", "web"):
            reader = pathlib.Path(self.state, f"readers/{name}.reader")
            wait_until(lambda: reader.exists() and "alert " in reader.read_text(), 10, "the reader has taken what is stored")
        self.receive_track(self.walk(1_790_000_000), "--seed", "1")
        wait_until(lambda: len(push.posts) >= 5 and len(mail.mails) >= 5 and len(web.posts) >= 5, 30, "all alerts are passed on")
        for program in programs:
            self.assertEqual(program.stop(), 0)
        stored = self.alerts("history", "--events", "alert")
        texts, ids = ([line[key] for line in stored] for key in ("text", "id"))
        self.assertEqual([body for _, body in push.posts], texts)
        headers = push.posts[0][0]
        self.assertEqual((headers["Priority"], headers["Tags"], headers["Authorization"]), ("high", "left", "Bearer secret"))
        self.assertIn("mlat=50.17", headers["Click"])
        self.assertEqual([each["X-Sequence-ID"] for each, _ in push.posts], ids)
        self.assertEqual([each["Message-ID"] for _, each in mail.mails], [f"<{each}@collar-link.invalid>" for each in ids])
        self.assertEqual([base64.b64decode(each["Subject"].split("?")[3]).decode() for _, each in mail.mails], texts)
        self.assertEqual(mail.mails[0][0][-2:], ["MAIL FROM:<cat@example.org>", "RCPT TO:<me@example.org>"])
        self.assertEqual([json.loads(body)["text"] for _, body in web.posts], texts)
