"""Connects the host driver of another project to an emulated RNode: see Tools/check-rnode."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

import RNS
from RNS.Interfaces.RNodeInterface import RNodeInterface

BINARY, TRACK = sys.argv[1:]
PACKETS = 3
SETTINGS = {"frequency": 869_525_000, "bandwidth": 125_000, "spreadingfactor": 7, "codingrate": 5, "txpower": 14}
# A collar answers it: the identity request of a receiver to every collar, as PROTOCOL.md writes it.
REQUEST = bytes.fromhex("3100ff00a1b2c3d497fa21")


class Owner:
    """Collects what the driver receives."""

    def __init__(self):
        self.packets = []
        self.changed = threading.Condition()

    def inbound(self, data, interface):
        with self.changed:
            self.packets.append((data, interface.r_stat_rssi, interface.r_stat_snr))
            self.changed.notify_all()

    def wait(self, condition, seconds):
        with self.changed:
            return self.changed.wait_for(condition, seconds)


def check(holds, words):
    print(("ok      " if holds else "FAILED  ") + words, flush=True)
    return 0 if holds else 1


def run(folder):
    """Returns how many checks failed."""
    port = os.path.join(folder, "stick")
    collar = subprocess.Popen(
        [BINARY, "simulate", "--dialect", "rnode", "--modem", "lora:SF7", "--track", TRACK, "--interval", "2", "--stats",
         "--link", port], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    interface = None
    try:
        collar.stdout.readline()
        owner = Owner()
        with open(os.path.join(folder, "config"), "w", encoding="ascii") as config:
            config.write("[reticulum]\nenable_transport = no\nshare_instance = no\n[interfaces]\n")
        RNS.Reticulum(configdir=folder, loglevel=RNS.LOG_VERBOSE)
        interface = RNodeInterface(owner, {"name": "emulated", "port": port, **SETTINGS})
        deadline = time.monotonic() + 15
        while not interface.online and time.monotonic() < deadline:
            time.sleep(0.1)
        failed = check(interface.online, "the driver finds the stick, sets its radio and takes it online")
        failed += check(owner.wait(lambda: len(owner.packets) >= PACKETS, 30), f"the driver receives {PACKETS} packets")
        signals = [(strength, ratio) for _, strength, ratio in owner.packets]
        failed += check(
            bool(signals) and all(None not in each and -130 < each[0] < -60 and -20 < each[1] < 20 for each in signals),
            f"each packet has its signal: {signals[:PACKETS]}")
        # A request is lost while the collar sends.
        for _ in range(10):
            before = len(owner.packets)
            interface.process_outgoing(REQUEST)
            if owner.wait(lambda: any(packet[0] & 0x1F == 1 for packet, *_ in owner.packets[before:]), 3):
                break
        failed += check(
            any(packet[0] & 0x1F == 1 for packet, *_ in owner.packets[before:]), "the collar answers what the driver sends")
    finally:
        if interface:
            interface.detach()
        collar.send_signal(signal.SIGINT)
        _, errors = collar.communicate(timeout=10)
    counts = json.loads(errors.splitlines()[-1])
    print(counts)
    failed += check(counts["downlink_frames"] > 0, f"{counts['downlink_frames']} frames went out to the collar")
    return failed


with tempfile.TemporaryDirectory() as scratch:
    STATUS = 1 if run(scratch) else 0
# The driver's threads do not end.
os._exit(STATUS)
