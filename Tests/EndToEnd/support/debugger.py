"""A debugger at the processor of an emulated board (GDB's remote protocol): it breaks the program from outside, as a fault of the
hardware or of the program itself would. The image knows nothing of it."""

import os
import socket

STACK_POINTER, PROGRAM_COUNTER = 13, 15
# The watchdog of the board (hardware/boards/qemu-mps2-an386/Sources/Board/Watchdog.swift): its load, in ticks of 25 MHz.
WATCHDOG_LOAD, TICKS = 0x40008000, 25_000_000
# Where the board has no memory.
NO_MEMORY = 0x30000000
# Thumb instructions: the one with which a trap of Swift's ends a program, and one that jumps to itself.
TRAP, JUMP_TO_ITSELF = bytes.fromhex("fede"), bytes.fromhex("fee7")


class Debugger:
    """Stops the processor while it is open; afterwards the processor goes on."""

    def __init__(self, board):
        path = os.path.join(board.folder, "debugger")
        if not os.path.exists(path):
            board.command("human-monitor-command", **{"command-line": f"gdbserver unix:{path},server=on,wait=off"})
        self._line = socket.socket(socket.AF_UNIX)
        self._line.settimeout(10)
        self._line.connect(path)
        self._input = self._line.makefile("rb")
        # Only a debugger that has asked for the names of the registers may use single ones.
        self._send("qXfer:features:read:target.xml:0,1")
        # Addresses are those of the hardware, devices included.
        self._obey("Qqemu.PhyMemMode:1")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._send("D")
        self._input.close()
        self._line.close()

    def _send(self, text):
        """Sends a packet and returns the answer."""
        self._line.sendall(b"$%s#%02x" % (text.encode(), sum(text.encode()) & 0xFF))
        # A packet that tells of the stop of the processor may come before.
        while (answer := self._receive()).startswith("T"):
            pass
        return answer

    def _receive(self):
        """The next packet."""
        packet = b""
        while not packet.endswith(b"#"):
            byte = self._input.read(1)
            if not byte:
                raise RuntimeError("the emulator has gone")
            # An acknowledgement is no part of a packet.
            packet += byte if packet or byte == b"$" else b""
        self._input.read(2)
        self._line.sendall(b"+")
        return packet[1:-1].decode()

    def _obey(self, text):
        if (answer := self._send(text)) != "OK":
            raise RuntimeError(f"{text}: {answer}")

    @property
    def program_counter(self):
        """The address of the instruction that is executed next."""
        return int.from_bytes(bytes.fromhex(self._send(f"p{PROGRAM_COUNTER:x}")), "little")

    def write(self, address, data):
        """Writes into the memory or into a device."""
        self._obey(f"M{address:x},{len(data):x}:{data.hex()}")

    def set_register(self, number, value):
        """Changes a register of the processor."""
        self._obey(f"P{number:x}={value.to_bytes(4, 'little').hex()}")


def trap(board):
    """The program meets a trap. Returns the address of it."""
    with Debugger(board) as debugger:
        address = debugger.program_counter
        debugger.write(address, TRAP)
        return address


def lose_stack(board):
    """The program jumps to an address without memory, with a stack that has none either: nobody knows where it was. Returns 0."""
    with Debugger(board) as debugger:
        debugger.set_register(STACK_POINTER, NO_MEMORY)
        debugger.set_register(PROGRAM_COUNTER, NO_MEMORY)
        return 0


def hang(board):
    """The program executes one instruction for ever, and the watchdog waits for 2 s only. Returns the address of it."""
    with Debugger(board) as debugger:
        address = debugger.program_counter
        debugger.write(WATCHDOG_LOAD, (2 * TICKS).to_bytes(4, "little"))
        debugger.write(address, JUMP_TO_ITSELF)
        return address
