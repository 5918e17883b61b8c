"""The commands of Tools/firmware that need the files of the emulated board."""

import argparse
import os
import pathlib
import secrets
import signal
import struct
import sys
import tempfile
import time

from emulated_board import ROOT, EmulatedBoard, Tap, make_flash, read_factory_block
from emulated_gnss import EmulatedReceiver
from gnss_bytes import track
from serial_line import SerialLine

IMAGES = ROOT / ".build-board"
TRACK = ROOT / "Tests/Tracks/cats_uk/Maxwell-Tag.ndjson.gz"
PATTERN = 0x5AA55AA5
RAM = 0x20000000


def number(low, high, base=10):
    def parse(text):
        value = int(text, base)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{text} is not between {low} and {high}")
        return value
    parse.__name__ = "number"
    return parse


def duty_cycle(text):
    """A percentage in thousandths."""
    thousandths = round(float(text) * 10)
    if not 1 <= thousandths <= 1000:
        raise argparse.ArgumentTypeError(f"{text} is not between 0.1 and 100")
    return thousandths


def flash(given):
    """Makes a device, as a factory does, and shows what its owner needs."""
    if given.file.exists() and not given.force:
        sys.exit(f"firmware: {given.file} exists. Its device would lose its key and its fixes; --force replaces it")
    if given.key_file and given.key_file.exists() and not given.force:
        sys.exit(f"firmware: {given.key_file} exists, and may hold the key of another device; --force replaces it")
    device = secrets.randbits(64) if given.device is None else given.device
    address = 0 if given.base else given.address or 1 + secrets.randbelow(254)
    key = bytes(16) if given.base else secrets.token_bytes(16)
    given.file.unlink(missing_ok=True)
    with open(os.open(given.file, os.O_CREAT | os.O_WRONLY, 0o600), "wb"):
        make_flash(given.file, device, address, key, given.spreading_factor, given.duty_cycle)
    if given.base:
        print(f"base radio {device:016x}")
        return
    if given.key_file:
        with open(os.open(given.key_file, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
            print(key.hex(), file=file)
        print(f"collar {device:016x}, address {address}. Its key is in {given.key_file}; this gives it to a receiver:")
        print(f"collar-link key add {device:016x} {given.key_file}")
        return
    print(f"collar {device:016x}, address {address}. Its key is printed only here; this gives it to a receiver:")
    print(f"collar-link key add {device:016x} - <<< {key.hex()}")


def run(given):
    """Runs a collar: its radio at a terminal, a track at its GNSS receiver."""
    factory = read_factory_block(given.file) if given.file.exists() else None
    if factory is None or factory[1] == 0:
        sys.exit(f"firmware: {given.file} is no collar. 'Tools/firmware flash {given.file}' makes one")
    if factory[2]:
        sys.exit(f"firmware: the radio of {given.file} is LoRa, and there is no air here. Make one without --spreading-factor")
    line = SerialLine(ordinary=False)
    board = EmulatedBoard(IMAGES / "Collar.elf", given.file, 3)
    tap = Tap(board.ports[0], line.master)
    receiver = EmulatedReceiver(board, track(given.track))
    given.link.unlink(missing_ok=True)
    given.link.symlink_to(line.path)
    try:
        board.start()
        receiver.start()
        print(f"collar {factory[0]:016x} at {given.link}; kill -USR1 {os.getpid()} resets it; Ctrl-C cuts its power", flush=True)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGUSR1, lambda number, frame: board.reset())
        receiver.join()
        while True:
            signal.pause()
    except KeyboardInterrupt:
        pass
    finally:
        given.link.unlink(missing_ok=True)
        receiver.close()
        tap.close()
        board.close()
        line.close()


def memory_of(script):
    """The length of the RAM that a linker script names."""
    text = (ROOT / "hardware/boards/qemu-mps2-an386" / script).read_text(encoding="ascii")
    return int(text.split("ram (rw)")[1].split("LENGTH = ")[1].split("K")[0]) * 1024


def sections(path):
    """The bytes of flash and of static RAM that an image (ELF, 32 bits) takes."""
    data = path.read_bytes()
    start, size, count = struct.unpack_from("<I", data, 28)[0], *struct.unpack_from("<HH", data, 42)
    flash = memory = 0
    for place in range(start, start + size * count, size):
        kind, _, virtual, _, in_file, in_memory = struct.unpack_from("<6I", data, place)
        if kind == 1:
            flash += in_file
            memory += in_memory if virtual >= RAM else 0
    return flash, memory


def size(given):
    """Prints the table of hardware/README.md: flash and RAM of the images. The stack is what a run uses with a fix each second."""
    print("| image | flash, bytes | static RAM | deepest stack |\n|---|---|---|---|")
    for name, ports in (("Collar", 3), ("Base", 2)):
        path = IMAGES / f"{name}.elf"
        flash_bytes, static = sections(path)
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "flash")
            make_flash(file, 1, 9 if ports == 3 else 0, bytes(range(16)))
            board = EmulatedBoard(path, file, ports)
            receiver = EmulatedReceiver(board, track(TRACK)) if ports == 3 else None
            board.start()
            if receiver:
                receiver.start()
            time.sleep(given.seconds)
            memory = board.memory(RAM, memory_of(f"{name.lower()}.ld"))
            if receiver:
                receiver.close()
            board.close()
        words = struct.unpack(f"<{len(memory) // 4}I", memory)
        first = words.index(PATTERN)
        untouched = next(index for index in range(first, len(words)) if words[index] != PATTERN)
        print(f"| {name.lower()} | {flash_bytes} | {static} | {4 * (len(words) - untouched)} |")


def main():
    options = argparse.ArgumentParser(prog="firmware")
    commands = options.add_subparsers(dest="command", required=True)
    make = commands.add_parser("flash", help="makes a device")
    make.add_argument("file", type=pathlib.Path, help="the flash of the board")
    make.add_argument("--device", type=number(1, 2 ** 64 - 1, 16), metavar="ID", help="device id, 16 hexadecimal digits")
    make.add_argument("--address", type=number(1, 254), metavar="N", help="address on the air, 1 to 254")
    make.add_argument("--base", action="store_true", help="a base radio")
    make.add_argument("--spreading-factor", type=number(7, 12), default=0, metavar="N", help="LoRa, 7 to 12; else a serial line")
    make.add_argument("--duty-cycle", type=duty_cycle, default=0, metavar="PERCENT", help="0.1 to 100; else no limit")
    make.add_argument("--key-file", type=pathlib.Path, metavar="FILE", help="writes the key to FILE instead of showing it")
    make.add_argument("--force", action="store_true", help="replaces the files")
    make.set_defaults(run=flash)
    play = commands.add_parser("run", help="runs a collar")
    play.add_argument("file", type=pathlib.Path, help="the flash of the board")
    play.add_argument("--track", type=pathlib.Path, default=TRACK, help="newline JSON of LocationFix, may be compressed with gzip")
    play.add_argument("--link", type=pathlib.Path, default=pathlib.Path("/tmp/collar"), help="where the radio's terminal is found")
    play.set_defaults(run=run)
    measure = commands.add_parser("size", help="measures the images")
    measure.add_argument("--seconds", type=float, default=15, help="how long each image runs")
    measure.set_defaults(run=size)
    given = options.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()
