"""Simulated USB radios for end-to-end tests: hot-plug without hardware, by libumockdev.

Start the tests under `umockdev-wrapper`, whose preloaded library redirects /dev, /sys and udev's socket:

    Tools/lib/end-to-end-module ports/test_hotplug.py LOG

Programs that a test starts inherit the redirection and see the same devices:

    testbed = Testbed()
    node = testbed.add_usb_tty("ttyUSB0", serial="A1", properties={"COLLAR_LINK": "1"})
    receiver = subprocess.Popen(["collar-link"], ...)
    os.write(testbed.master_fd(node), frame)      # the radio sends a frame
    testbed.unplug("ttyUSB0")                     # the radio is unplugged
"""

import ctypes
import os
import stat
import termios
import tty

from ordinary_user import give_to_ordinary_user


def is_available():
    """Whether this process runs under `umockdev-wrapper`; for the `skipUnless` of a test."""
    # umockdev_in_mock_environment() is not used: if it is called before the first testbed exists, the library sends no
    # events.
    return "libumockdev-preload" in os.environ.get("LD_PRELOAD", "")


def _load_library():
    library = ctypes.CDLL("libumockdev.so.0")
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    signatures = {
        "umockdev_testbed_new": (pointer, []),
        "umockdev_testbed_add_from_string": (ctypes.c_int, [pointer, text, ctypes.POINTER(pointer)]),
        "umockdev_testbed_set_property": (None, [pointer, text, text, text]),
        "umockdev_testbed_get_root_dir": (pointer, [pointer]),
        "umockdev_testbed_uevent": (None, [pointer, text, text]),
        "umockdev_testbed_remove_device": (None, [pointer, text]),
        "g_free": (None, [pointer]),
        "g_object_unref": (None, [pointer]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


class _GError(ctypes.Structure):
    _fields_ = [("domain", ctypes.c_uint32), ("code", ctypes.c_int), ("message", ctypes.c_char_p)]


class Testbed:
    """A private /sys and /dev, empty at first. A process can have one testbed at a time; close it, or use `with`."""

    def __init__(self):
        if not is_available():
            raise RuntimeError("run this under umockdev-wrapper")
        self._library = _load_library()
        self._testbed = self._library.umockdev_testbed_new()
        root = self._library.umockdev_testbed_get_root_dir(self._testbed)
        self._dev = os.path.join(os.fsdecode(ctypes.string_at(root)), "dev")
        os.makedirs(self._dev, exist_ok=True)
        self._library.g_free(root)
        self._ttys = {}  # name -> (sysfs path of the tty, sysfs path of its USB device, master of its line)
        self._socket = 0  # the number of the last adapter's socket of the hub

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def open_to_ordinary_user(self):
        """Lets an ordinary user make and use sockets in the simulated machine: those of udev and of the library."""
        for folder, _, names in os.walk(os.path.dirname(self._dev)):
            for path in (folder, *(os.path.join(folder, name) for name in names)):
                if os.path.isdir(path) or stat.S_ISSOCK(os.lstat(path).st_mode):
                    give_to_ordinary_user(path)

    def add_usb_tty(self, name="ttyUSB0", vendor="10c4", product="ea60", serial="0001", manufacturer="CollarLink",
                    model="CollarLink base radio", interface="00", properties=None, prepare=lambda line: None,
                    is_in_last_socket=False):
        """Plugs in an adapter: a USB device first, then its tty, with an `add` event for each.

        `properties` are the udev properties that the rules would have set, such as {"COLLAR_LINK": "1"}; they may also
        override the `ID_*` properties. Before the tty is announced, `prepare` is called with the path of
        the line to which the node leads. Each adapter has a socket of the hub, and with it a path below /sys, of its own;
        if `is_in_last_socket`, it is the socket of the adapter before it, which is unplugged. Returns the node. The line is
        raw from the start.
        """
        if name in self._ttys:
            raise ValueError(f"{name} is plugged in already")
        if not is_in_last_socket:
            self._socket += 1
        usb = f"/devices/pci0000:00/0000:00:14.0/usb1/1-{self._socket}"
        tty_path = f"{usb}/1-{self._socket}:1.0/{name}/tty/{name}"
        number = int("".join(filter(str.isdigit, name)) or "0")
        major = 166 if name.startswith("ttyACM") else 188
        self._add([
            f"P: {usb}", "E: SUBSYSTEM=usb", "E: DEVTYPE=usb_device", f"E: DEVNAME=bus/usb/001/{self._socket:03}",
            f"A: idVendor={vendor}", f"A: idProduct={product}", f"A: manufacturer={manufacturer}",
            f"A: product={model}", *([f"A: serial={serial}"] if serial else []),
        ])
        word = f"{manufacturer}_{model}".replace(" ", "_")
        values = {
            "ID_BUS": "usb", "ID_VENDOR_ID": vendor, "ID_MODEL_ID": product,
            "ID_VENDOR": manufacturer.replace(" ", "_"), "ID_MODEL": model.replace(" ", "_"),
            "ID_SERIAL": f"{word}_{serial}" if serial else word, "ID_USB_INTERFACE_NUM": interface,
            "ID_PATH": f"pci-0000:00:14.0-usb-0:{self._socket}:1.0",
        }
        if serial:
            values["ID_SERIAL_SHORT"] = serial
        values.update(properties or {})
        # With an "N:" line the library would make the node and the line itself. But it never forgets them: it aborts
        # when the same name is plugged in a second time.
        master, slave = os.openpty()
        # A pseudo-terminal echoes until it is raw: bytes that the radio sends at once would come back to the radio.
        tty.setraw(slave, termios.TCSANOW)
        prepare(os.ttyname(slave))
        os.symlink(os.ttyname(slave), self._node(name))
        os.close(slave)
        self._ttys[name] = ("/sys" + tty_path, "/sys" + usb, master)
        self._add([
            f"P: {tty_path}", "E: SUBSYSTEM=tty", f"E: DEVNAME=/dev/{name}", f"E: MAJOR={major}", f"E: MINOR={number}",
            *(f"E: {key}={value}" for key, value in values.items()), f"A: dev={major}:{number}",
        ])
        return f"/dev/{name}"

    def master_fd(self, node):
        """The radio's end of the line: a program reads from `node` what is written to this descriptor.

        The descriptor blocks; a read fails with EIO while no program has the node open.
        """
        return self._ttys[os.path.basename(node)][2]

    def set_property(self, name, key, value):
        """Changes a udev property and announces it, as a newly installed rule does."""
        path = self._ttys[name][0].encode()
        self._library.umockdev_testbed_set_property(self._testbed, path, key.encode(), value.encode())
        self.announce(name, "change")

    def add_usb_device(self, name, **attributes):
        """Plugs in a USB device, such as `usb2/2-1`, at the controller of the adapters. Returns its path below /sys."""
        path = f"/devices/pci0000:00/0000:00:14.0/{name}"
        self._add([f"P: {path}", "E: SUBSYSTEM=usb", "E: DEVTYPE=usb_device", *(f"A: {key}={value}" for key, value in attributes.items())])
        return "/sys" + path

    def usb_device(self, name):
        """The path below /sys of an adapter's USB device."""
        return self._ttys[name][1]

    def set_attribute(self, device, attribute, value):
        """Sets an attribute of a device, given by its path below /sys. Returns the path of the attribute."""
        path = f"{device}/{attribute}"
        place = os.path.dirname(self._dev) + path
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="ascii") as file:
            file.write(value + "\n")
        return path

    def announce(self, name, action):
        """Sends an event for an adapter that is plugged in, as `udevadm trigger --action` does."""
        self._library.umockdev_testbed_uevent(self._testbed, self._ttys[name][0].encode(), action.encode())

    def unplug(self, name):
        """Unplugs the adapter: the line hangs up, the node is removed, and udev announces it."""
        tty_path, usb, master = self._ttys.pop(name)
        os.close(master)
        os.unlink(self._node(name))
        # The kernel, too, takes a device off the list of its class before it announces the removal.
        os.unlink(os.path.join(os.path.dirname(self._dev), "sys/class/tty", name))
        self._remove(tty_path)
        self._remove(usb)

    def close(self):
        """Unplugs everything and restores /dev and /sys."""
        if self._testbed:
            for name in list(self._ttys):
                self.unplug(name)
            self._library.g_object_unref(self._testbed)
            self._testbed = None

    def _node(self, name):
        return os.path.join(self._dev, name)

    def _remove(self, path):
        self._library.umockdev_testbed_uevent(self._testbed, path.encode(), b"remove")
        self._library.umockdev_testbed_remove_device(self._testbed, path.encode())

    def _add(self, lines):
        failure = ctypes.c_void_p()
        text = ("\n".join(lines) + "\n").encode()
        if not self._library.umockdev_testbed_add_from_string(self._testbed, text, ctypes.byref(failure)):
            message = ctypes.cast(failure, ctypes.POINTER(_GError)).contents.message if failure else b"unknown"
            raise RuntimeError(f"umockdev: {os.fsdecode(message)}")
