"""Private servers: PostgreSQL with PostGIS at a socket in a test's folder, and mosquitto at a port of the loopback device.

They come from .tools, where Tools/test unpacks them, and run as an ordinary user. The recipes run beside them.
"""

import os
import pathlib
import random
import signal
import socket
import subprocess

from end_to_end import IS_ROOT, ROOT, child_environment, wait_until
from processes import processor_seconds

TOOLS = ROOT / ".tools"
POSTGRESQL = TOOLS / "postgresql-15-postgis-3"
MOSQUITTO = TOOLS / "mosquitto"
RECIPES = ROOT / "Tools/recipes"
SERVER_PROGRAMS = POSTGRESQL / "usr/lib/postgresql/15/bin"
ARE_HERE = SERVER_PROGRAMS.exists() and MOSQUITTO.exists()


def _may_others_read(path):
    return all(os.stat(each).st_mode & 0o001 for each in (path, *path.parents))


def ordinary(command):
    """A command as the ordinary user, who may read the checkout even if it is in a private home directory."""
    if not IS_ROOT:
        return command
    reads = [] if _may_others_read(ROOT) else ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *reads, *command]


def server_environment(**more):
    """The environment of the servers and of the recipes: the unpacked programs come first, with their own libraries."""
    libraries = [f"{root}/usr/lib/{folder.name}" for root in (POSTGRESQL, MOSQUITTO)
                 for folder in (root / "usr/lib").glob("*-linux-gnu")]
    programs = [SERVER_PROGRAMS, MOSQUITTO / "usr/bin", MOSQUITTO / "usr/sbin"]
    return child_environment(
        PATH=os.pathsep.join([*map(str, programs), os.environ["PATH"]]), LD_LIBRARY_PATH=os.pathsep.join(libraries),
        PROJ_LIB=str(POSTGRESQL / "usr/share/proj"), **more)


def free_port():
    """A port of the loopback device at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_listening(port):
    """Whether somebody listens at a port of the loopback device."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def descendants(pid):
    """The processes that a process has started, and those that they have started."""
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout.split()
    children = [int(word) for word in found]
    return children + [each for child in children for each in descendants(child)]


def kill_one_of(processes, chance=random):
    """Kills one of some processes. Returns whether there was one."""
    if processes:
        try:
            os.kill(chance.choice(processes), signal.SIGKILL)
        except ProcessLookupError:
            pass
    return bool(processes)


class Server:
    """A server process that can be killed and started again."""

    def __init__(self, test):
        self._test = test
        self._process = None
        self._log = open(test.path(f"{type(self).__name__}.log"), "ab")
        test.addCleanup(self._log.close)
        test.addCleanup(self.end, signal.SIGKILL)

    def start(self):
        """Starts the server if it does not run, and waits until it answers."""
        if self._process and self._process.poll() is None:
            return
        self._process = subprocess.Popen(
            ordinary(self.command()), cwd=self._test.folder, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=self._log, stderr=self._log)
        wait_until(lambda: self.answers() or self._fail_if_ended(), 20, f"{type(self).__name__} answers")

    def _fail_if_ended(self):
        if self._process.poll() is not None:
            raise AssertionError(f"ended with {self._process.returncode}: {pathlib.Path(self._log.name).read_text()[-2000:]}")

    def end(self, with_signal):
        """Ends the server with a signal, and waits for its end."""
        if self._process and self._process.poll() is None:
            if with_signal == signal.SIGKILL:
                # It must not start another process while its processes are listed.
                self._process.send_signal(signal.SIGSTOP)
            children = descendants(self._process.pid)
            self._process.send_signal(with_signal)
            self._process.wait(20)
            # As when the machine or its container dies: processes of PostgreSQL that are left alone may wait for ever, and a
            # new server does not start beside them.
            for child in children:
                kill_one_of([child])
            wait_until(lambda: not any(os.path.exists(f"/proc/{child}") for child in children), 20, "its processes end")

    def kill_a_child(self, chance):
        """Kills one of the processes of the server. Returns whether there was one."""
        return kill_one_of(descendants(self._process.pid), chance)

    def signal(self, number):
        """Sends a signal that does not end the server."""
        self._process.send_signal(number)


class PostgreSQL(Server):
    """A PostgreSQL server with one database."""

    def __init__(self, test):
        super().__init__(test)
        self._data, self._socket = test.path("database"), test.path("")
        self.environment = server_environment(
            PGHOST=self._socket.rstrip("/"), PGUSER="collar", PGDATABASE="postgres", PGOPTIONS="-c timezone=UTC")
        subprocess.run(
            ordinary([str(SERVER_PROGRAMS / "initdb"), "-D", self._data, "-U", "collar", "--auth=trust", "-E", "UTF8",
                      "--locale=C.UTF-8", "--no-sync"]), env=self.environment, check=True, capture_output=True)
        self.start()

    def command(self):
        return [str(SERVER_PROGRAMS / "postgres"), "-D", self._data, "-k", self._socket, "-c", "listen_addresses=",
                "-c", "shared_buffers=32MB"]

    def answers(self):
        return subprocess.run(
            ordinary([str(SERVER_PROGRAMS / "pg_isready"), "-q"]), env=self.environment, check=False).returncode == 0

    def seconds(self):
        """The processor time of the server's processes, also of those that have ended."""
        return processor_seconds(self._process.pid, with_children=True) + sum(
            processor_seconds(child) for child in descendants(self._process.pid))

    def rows(self, query):
        """The rows of a query, each a list of texts."""
        done = subprocess.run(
            ordinary([str(SERVER_PROGRAMS / "psql"), "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-c", query]),
            env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(done.stderr)
        return [line.split("\t") for line in done.stdout.splitlines()]


class Broker(Server):
    """A mosquitto that is set up as the recipe says."""

    def __init__(self, test):
        super().__init__(test)
        self.port = free_port()
        self.environment = server_environment(MQTT_HOST="127.0.0.1", MQTT_PORT=str(self.port), MQTT_TIMEOUT="5")
        self._configuration = test.path("mosquitto.conf")
        self.configure("")
        self.start()

    def configure(self, text):
        """Writes the configuration for the next start: that of the recipe, and more."""
        recipe = (RECIPES / "mqtt/mosquitto.conf").read_text("ascii")
        pathlib.Path(self._configuration).write_text(
            f"{recipe}\nlistener {self.port} 127.0.0.1\npersistence_location {self._test.folder}/\nallow_anonymous true\n{text}\n",
            "ascii")

    def command(self):
        return [str(MOSQUITTO / "usr/sbin/mosquitto"), "-c", self._configuration]

    def answers(self):
        return is_listening(self.port)

    def subscribed(self, *options):
        """A command of a subscriber."""
        return ordinary([str(MOSQUITTO / "usr/bin/mosquitto_sub"), "-h", "127.0.0.1", "-p", str(self.port), *options])

    def retained(self, topic):
        """The retained messages of a topic, which may have wildcards: pairs of topic and payload."""
        done = subprocess.run(self.subscribed("-t", topic, "-v", "--retained-only", "-W", "1"), env=self.environment,
                              capture_output=True, text=True, check=False)
        return sorted(tuple(line.split(" ", 1)) for line in done.stdout.splitlines())


class Recipes:
    """The recipes of Tools/recipes, as the ordinary user runs them."""

    def __init__(self, environment):
        self._environment = environment

    def command(self, name, *arguments):
        return [str(RECIPES / name), *arguments]

    def run(self, name, *arguments, lines=(), **more):
        """Runs a recipe with lines on its standard input. Returns the finished process."""
        return subprocess.run(
            ordinary(self.command(name, *arguments)), input=b"".join(lines), env={**self._environment, **more},
            capture_output=True, timeout=60, check=False)
