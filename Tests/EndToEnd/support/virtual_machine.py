"""A virtual machine with Debian's kernel and a running udevd, into which emulated FTDI adapters are plugged."""

import json
import os
import pathlib
import select
import socket
import struct
import subprocess
import tempfile
import threading
import time
import tty


def raised_lines(capture):
    """How often DTR or RTS of an FTDI adapter is raised in a capture of its USB requests."""
    count, place = 0, 24
    while place + 16 <= len(capture):
        length = struct.unpack_from("<I", capture, place + 8)[0]
        # The header of usbmon, with the eight bytes of a control request at the end of its first part.
        record = capture[place + 16:place + 16 + length]
        setup = record[40:48]
        # The low byte of the value has the states, and the high byte says which of them count.
        if record[8:10] == b"S\x02" and setup[:2] == b"\x40\x01" and setup[2] & setup[3] & 3:
            count += 1
        place += 16 + length
    return count


class Adapter:
    """An emulated FTDI adapter. What the guest writes goes to `collar`, a terminal, or is kept in `received`."""

    def __init__(self, machine, number):
        self._machine, self._number = machine, number
        self._socket = self._thread = None
        self._wake, self._stop = os.pipe()
        self.received = bytearray()
        # How often a program has raised DTR or RTS, as is known when the adapter is unplugged.
        self.raised_count = 0

    @property
    def _name(self):
        return f"adapter{self._number}"

    @property
    def _capture(self):
        return self._machine.path(f"{self._name}.pcap")

    def plug(self, serial, collar=None):
        """Plugs the adapter in. `collar` is the terminal of a simulated collar; it has no reader while the adapter is
        unplugged, and the collar goes on."""
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(self._machine.path(self._name))
        self._machine.control(
            "device_add", driver="usb-serial", id=self._name, chardev=self._name, serial=serial,
            pcap=self._capture)
        terminal = None
        if collar:
            terminal = os.open(collar, os.O_RDWR | os.O_NOCTTY)
            tty.setraw(terminal)
        self._thread = threading.Thread(target=self._carry, args=(terminal,), daemon=True)
        self._thread.start()

    @property
    def is_plugged(self):
        return self._socket is not None

    def send(self, data):
        """Lets the radio behind the adapter say something. Not for an adapter with a collar, which speaks for itself."""
        self._socket.sendall(data)

    def _carry(self, terminal):
        ends = [self._socket, self._wake] + ([terminal] if terminal is not None else [])
        try:
            while True:
                ready, _, _ = select.select(ends, [], [])
                if self._wake in ready:
                    os.read(self._wake, 1)
                    return
                if self._socket in ready:
                    data = self._socket.recv(4096)
                    if not data:
                        return
                    self.received += data
                    if terminal is not None:
                        os.write(terminal, data)
                if terminal in ready:
                    self._socket.sendall(os.read(terminal, 256))
        except OSError:
            pass
        finally:
            if terminal is not None:
                os.close(terminal)

    def unplug(self):
        """Pulls the adapter out."""
        os.write(self._stop, b"x")
        self._thread.join(5)
        self._machine.delete(self._name)
        self._socket.close()
        self._socket = None
        self.raised_count += raised_lines(pathlib.Path(self._capture).read_bytes())


class VirtualMachine:
    """A running virtual machine. The folder `share` of the host is /share in the guest."""

    def __init__(self, packages, kernel, image, adapters, disk=None, is_system=False):
        """Starts the machine. `packages` is the folder with the emulator, unpacked and not installed; `disk` is a file that the guest
        has as /dev/vda. If it `is_system`, the disk holds a system that takes over."""
        self._folder = tempfile.TemporaryDirectory(prefix="collar-link-machine-")
        self.share = pathlib.Path(self.path("share"))
        self.share.mkdir()
        os.chmod(self.share, 0o777)
        self._count = 0
        libraries = f"{packages}/usr/lib/x86_64-linux-gnu:{packages}/lib/x86_64-linux-gnu"
        command = [
            f"{packages}/usr/bin/qemu-system-x86_64", "-L", f"{packages}/usr/share/qemu", "-L", f"{packages}/usr/share/seabios",
            "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-m", "1024" if is_system else "512", "-machine", "pc",
            "-accel", "tcg", "-smp", "1", "-kernel", kernel, "-initrd", image,
            "-append", "console=ttyS0 rdinit=/init quiet panic=-1 tsc=unstable random.trust_cpu=on" + (
                " collar-link.system systemd.show_status=0" if is_system else ""),
            "-chardev", f"file,id=console,path={self.path('console')}", "-serial", "chardev:console",
            "-chardev", f"socket,id=agent,path={self.path('agent')},server=on,wait=on", "-serial", "chardev:agent",
            "-qmp", f"unix:{self.path('control')},server=on,wait=off",
            "-virtfs", f"local,path={self.share},mount_tag=share,security_model=none,id=share",
            "-device", "qemu-xhci,id=usb"]
        if disk:
            command += ["-drive", f"file={disk},if=virtio,format=raw"]
        for number in range(adapters):
            name = f"adapter{number}"
            command += ["-chardev", f"socket,id={name},path={self.path(name)},server=on,wait=off"]
        with open(self.path("errors"), "wb") as errors:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stderr=errors, env={**os.environ, "LD_LIBRARY_PATH": libraries})
        self._agent = self._connect("agent")
        self._control = self._connect("control").makefile("rw")
        self._control.readline()
        self._control_lock = threading.Lock()
        self._events = []
        self.control("qmp_capabilities")
        self._answers = self._agent.makefile("rw")
        self.adapters = [Adapter(self, number) for number in range(adapters)]

    def wait_for_start(self, seconds=180):
        self._agent.settimeout(seconds)
        while self._answers.readline().strip() != "ready":
            pass

    def path(self, name):
        return os.path.join(self._folder.name, name)

    def _connect(self, name):
        line = socket.socket(socket.AF_UNIX)
        deadline = time.monotonic() + 10
        while True:
            try:
                line.connect(self.path(name))
                return line
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError(f"the machine did not start: {self.errors}") from None
                time.sleep(0.05)

    @property
    def errors(self):
        return pathlib.Path(self.path("errors")).read_text(errors="replace")

    @property
    def console(self):
        return pathlib.Path(self.path("console")).read_text(errors="replace")

    def _send_control(self, command, arguments):
        self._control.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self._control.flush()

    def _read_control(self):
        text = self._control.readline()
        if not text:
            raise AssertionError(f"the emulator ended with {self.process.wait()}: {self.errors}")
        return json.loads(text)

    def control(self, command, **arguments):
        """Gives the emulator a command."""
        with self._control_lock:
            self._send_control(command, arguments)
            while True:
                answer = self._read_control()
                if "error" in answer:
                    raise AssertionError(f"{command}: {answer['error']}")
                if "return" in answer:
                    return answer["return"]
                self._events.append(answer)

    def delete(self, device):
        """Removes a device, and waits until it is gone."""
        self._events.clear()
        self.control("device_del", id=device)
        with self._control_lock:
            while not any(each.get("event") == "DEVICE_DELETED" and each["data"].get("device") == device
                          for each in self._events):
                self._events.append(self._read_control())

    def run(self, script, seconds=60, check=True):
        """Runs a shell script in the guest. Returns its output."""
        self._count += 1
        (self.share / f"{self._count}.sh").write_text(script)
        self._agent.settimeout(seconds)
        self._answers.write(f"{self._count}\n")
        self._answers.flush()
        number, code = self._answers.readline().split()
        output = (self.share / f"{number}.out").read_text(errors="replace")
        if check and code != "0":
            raise AssertionError(f"{script!r} gave {code}: {output}")
        return output

    def close(self):
        self.process.kill()
        self.process.wait()
        self._folder.cleanup()
