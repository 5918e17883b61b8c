"""A board of hardware/boards/qemu-mps2-an386 in QEMU: its flash in a file, its ports, its reset and its power."""

import json
import os
import pathlib
import secrets
import select
import socket
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
BOARD = ROOT / "hardware/boards/qemu-mps2-an386"

from board_pins import Pins

from wire import crc24

EMULATOR = "qemu-system-arm"
BLOCK = 4096
FLASH_BLOCKS = 256
MEMORY = 16 << 20
MARK = 0x434C4642


def make_flash(path, device, address, key, spreading_factor=0, duty_cycle=0):
    """Makes the file of a board whose flash is erased. Sources/Board/FactoryBlocks.swift describes its first block."""
    block = (MARK.to_bytes(4, "big") + device.to_bytes(8, "big") + bytes([address, spreading_factor])
             + duty_cycle.to_bytes(2, "big") + key)
    block += crc24(block).to_bytes(3, "big")
    with open(path, "wb") as file:
        file.write(block.ljust(2 * BLOCK, b"\xff") + b"\xff" * (FLASH_BLOCKS * BLOCK))
        file.truncate(MEMORY)


def read_factory_block(path):
    """Device, address, spreading factor and key of a board's file; None if it was never flashed, or is damaged."""
    with open(path, "rb") as file:
        block = file.read(35)
    if len(block) < 35 or int.from_bytes(block[:4], "big") != MARK or crc24(block[:32]) != int.from_bytes(block[32:], "big"):
        return None
    return int.from_bytes(block[4:12], "big"), block[12], block[13], block[16:32]


class Port:
    """A serial port of a board. What the board sends goes to `receive`; what is written while the board is off is lost."""

    def __init__(self, number):
        self.number = number
        self.receive = lambda data: None
        self.socket = None
        # How many bytes were sent to the board and received from it since it was switched on.
        self.sent = self.received = 0

    def write(self, data):
        line = self.socket
        if line is None:
            return
        self.sent += len(data)
        try:
            line.sendall(data)
        except OSError:
            pass


class EmulatedBoard:
    """A board with an image and a flash file. It is off until `start`.

    The time of the board is that of this machine, or `is_time_held`: a `HeldTime` says when each sleep of the board ends, and the
    emulator takes 32 ns for each instruction."""

    def __init__(self, image, flash, port_count, is_time_held=False):
        self.image, self.flash, self.is_time_held = image, flash, is_time_held
        self.pins = Pins(flash)
        self.ports = [Port(number) for number in range(port_count)]
        # What to call when the power is cut: other devices have the same supply.
        self.power_was_cut = []
        self._folder = tempfile.TemporaryDirectory(prefix="collar-link-board-")
        # Where the sockets of the emulator are.
        self.folder = self._folder.name
        self._process = None
        self._control = None
        self._reader = None

    def _listen(self, name):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(os.path.join(self.folder, name))
        listener.listen(1)
        listener.settimeout(30)
        return listener

    def start(self):
        """Switches the power on. The image starts when all ports are connected."""
        with open(self.flash, "r+b") as file:
            file.seek(BLOCK)
            file.write(secrets.token_bytes(BLOCK))
        self.pins.clear(self.is_time_held)
        names = [f"port{port.number}" for port in self.ports] + ["control"]
        listeners = [self._listen(name) for name in names]
        command = [EMULATOR, "-M", "mps2-an386,memory-backend=memory", "-display", "none", "-monitor", "none", "-no-shutdown",
                   "-object", f"memory-backend-file,id=memory,size={MEMORY},mem-path={self.flash},share=on",
                   "-kernel", str(self.image), "-qmp", f"unix:{self.folder}/control"]
        if self.is_time_held:
            command += ["-icount", "shift=5"]
        for name in names[:-1]:
            command += ["-chardev", f"socket,id={name},path={self.folder}/{name}", "-serial", f"chardev:{name}"]
        # The emulator ends with this process, however that ends.
        self._process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE)
        try:
            connections = [listener.accept()[0] for listener in listeners]
        except TimeoutError:
            self._process.kill()
            raise RuntimeError(f"{EMULATOR} did not start: {self._process.communicate()[1].decode().strip()}") from None
        finally:
            for listener, name in zip(listeners, names):
                listener.close()
                os.unlink(os.path.join(self.folder, name))
        *lines, control = connections
        self._control = control.makefile("rwb")
        control.close()
        self._control.readline()
        self.command("qmp_capabilities")
        for port, line in zip(self.ports, lines):
            port.socket, port.sent, port.received = line, 0, 0
        self._reader = threading.Thread(target=self._read, args=(lines,), daemon=True)
        self._reader.start()

    def _read(self, lines):
        ports = dict(zip(lines, self.ports))
        while ports:
            for line in select.select(list(ports), [], [])[0]:
                try:
                    data = line.recv(4096)
                except OSError:
                    data = b""
                if data:
                    ports[line].receive(data)
                    ports[line].received += len(data)
                else:
                    del ports[line]

    def command(self, name, **arguments):
        """Gives the emulator a command (QMP). Returns its result."""
        self._control.write(json.dumps({"execute": name, "arguments": arguments}).encode() + b"\n")
        self._control.flush()
        while True:
            answer = json.loads(self._control.readline())
            if "error" in answer:
                raise RuntimeError(f"{name}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]

    def reset(self):
        """Pulls the reset pin."""
        self.command("system_reset")

    @property
    def is_on(self):
        return self._process is not None

    def cut_power(self):
        """Ends the emulator at once, wherever the image is: what it was writing into its flash is torn."""
        if self._process is None:
            return
        self._process.kill()
        self._process.communicate()
        self._process = None
        self._reader.join(10)
        for port in self.ports:
            port.socket.close()
            port.socket = None
        self._control.close()
        for each in self.power_was_cut:
            each()

    def restart(self):
        """Cuts the power and switches it on again."""
        self.cut_power()
        self.start()

    def memory(self, address, count):
        """Bytes of the memory of the image."""
        path = os.path.join(self.folder, "memory")
        self.command("pmemsave", val=address, size=count, filename=path)
        data = pathlib.Path(path).read_bytes()
        os.unlink(path)
        return data

    def close(self):
        self.cut_power()
        self.pins.close()
        self._folder.cleanup()


class Tap:
    """Carries bytes both ways between a port and the radio's end of a serial line, in a thread of its own."""

    def __init__(self, port, master):
        self._port, self._master = port, master
        os.set_blocking(master, False)
        port.receive = self._to_line
        self._wake, self._stop = os.pipe()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _to_line(self, data):
        # A line that nobody reads loses what does not fit, as a serial adapter does.
        try:
            os.write(self._master, data)
        except BlockingIOError:
            pass

    def _run(self):
        while True:
            ready = select.select([self._master, self._wake], [], [])[0]
            if self._wake in ready:
                return
            try:
                self._port.write(os.read(self._master, 4096))
            except OSError:
                # Nobody has the terminal open.
                time.sleep(0.05)

    def close(self):
        os.write(self._stop, b"x")
        self._thread.join(5)
        os.close(self._wake)
        os.close(self._stop)
