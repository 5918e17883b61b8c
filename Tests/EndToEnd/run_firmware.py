"""The commands of Tools/firmware that need the files of the emulated board."""

import argparse
import os
import pathlib
import secrets
import sys

from emulated_board import make_flash


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
    device = secrets.randbits(64) if given.device is None else given.device
    address = 0 if given.base else given.address or 1 + secrets.randbelow(254)
    key = bytes(16) if given.base else secrets.token_bytes(16)
    given.file.unlink(missing_ok=True)
    with open(os.open(given.file, os.O_CREAT | os.O_WRONLY, 0o600), "wb"):
        make_flash(given.file, device, address, key, given.spreading_factor, given.duty_cycle)
    if given.base:
        print(f"base radio {device:016x}")
        return
    print(f"collar {device:016x}, address {address}. Its key, once and for all; this makes it known to a receiver:")
    print(f"collar-link key add {device:016x} - <<< {key.hex()}")


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
    make.add_argument("--force", action="store_true", help="replaces the file")
    make.set_defaults(run=flash)
    given = options.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()
