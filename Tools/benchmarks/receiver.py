"""Measures the speed and the cost of a receiver with great numbers of fixes: see Tools/bench."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

BINARY, LOAD, BASELINE = sys.argv[2:5]
ROUNDS = 3


def status(pid, *names):
    """Fields of /proc/PID/status in KiB; zeros if the process is gone."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    except OSError:
        return [0] * len(names)
    fields = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.endswith(" kB")}
    return [fields.get(name, 0) for name in names]


class Flood:
    """Collars that send fixes at a pseudo-terminal, as fast as the receiver reads."""

    def __init__(self, collars, fixes, kind, *more):
        self.fixes = fixes
        self.process = subprocess.Popen(
            [LOAD, "flood", str(collars), str(fixes), kind, *more], stdout=subprocess.PIPE, text=True)
        self.path = self.process.stdout.readline().strip()

    def seconds(self):
        """The seconds until the last byte was taken, and until everything was acknowledged."""
        sent, acknowledged = self.process.stdout.readline().split()
        return float(sent), float(acknowledged)


def receive(folder, flood, stdout):
    """Starts a receiver at a flood."""
    return subprocess.Popen(
        [BINARY, "--port", flood.path, "--dialect", "serial", "--state-dir", f"{folder}/state", "-q", "--no-reconnect"], stdout=stdout,
        stderr=subprocess.DEVNULL)


def into_nothing():
    """A reader that discards its input."""
    return subprocess.Popen("exec cat >/dev/null", shell=True, stdin=subprocess.PIPE)


def own_flood(collars, fixes, kind):
    """Fixes per second of the receiver, until all are acknowledged, and its processor time per fix in nanoseconds."""
    with tempfile.TemporaryDirectory() as folder:
        flood, reader = Flood(collars, fixes, kind), into_nothing()
        receiver = receive(folder, flood, reader.stdin)
        reader.stdin.close()
        _, seconds = flood.seconds()
        flood.process.wait()
        _, _, usage = os.wait4(receiver.pid, 0)
        reader.wait()
        return fixes / seconds, 1e9 * (usage.ru_utime + usage.ru_stime) / fixes


def baseline_flood(collars, fixes, kind, *arguments):
    """The same for the program in C, until it has taken the last byte."""
    with tempfile.TemporaryDirectory() as folder:
        flood, reader = Flood(collars, fixes, kind, "one-way"), into_nothing()
        receiver = subprocess.Popen(
            [BASELINE, flood.path, *(f"{folder}/{name}" for name in arguments)], stdout=reader.stdin,
            stderr=subprocess.PIPE, text=True)
        reader.stdin.close()
        seconds, _ = flood.seconds()
        flood.process.wait()
        count = int(receiver.stderr.read().split()[0])
        _, _, usage = os.wait4(receiver.pid, 0)
        reader.wait()
        if arguments and count != fixes:
            raise AssertionError(f"the baseline has {count} of {fixes} fixes")
        return fixes / seconds, 1e9 * (usage.ru_utime + usage.ru_stime) / fixes


def bench_flood(fixes=2_000_000):
    """Prints fixes per second through a terminal, without losses."""
    print(f"{fixes} fixes through a pseudo-terminal, best and median of {ROUNDS}:\n")
    print("| | collars | fixes/s, best | median | ns of processor a fix |\n|---|---|---|---|---|")
    for collars in (1, 10):
        for name, run in (
                ("one a frame", lambda: own_flood(collars, fixes, "single")),
                ("one a frame, in C", lambda: baseline_flood(collars, fixes, "single", "records")),
                ("one a frame, only read", lambda: baseline_flood(collars, fixes, "single")),
                ("batches", lambda: own_flood(collars, fixes, "batch"))):
            rates = sorted((run() for _ in range(ROUNDS)), reverse=True)
            print(f"| {name} | {collars} | {rates[0][0]:,.0f} | {rates[ROUNDS // 2][0]:,.0f} | "
                  f"{min(cost for _, cost in rates):,.0f} |", flush=True)


def opened(folder):
    """The milliseconds from exec until the port is open, and the memory at that time."""
    flood = Flood(1, 1, "single")
    began = time.monotonic()
    receiver = subprocess.Popen(
        [BINARY, "--port", flood.path, "--dialect", "serial", "--state-dir", folder, "--no-reconnect"], stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True)
    for line in receiver.stderr:
        if "listening on" in line:
            break
    seconds = time.monotonic() - began
    time.sleep(0.2)
    memory = status(receiver.pid, "RssAnon", "VmRSS", "VmHWM")
    flood.process.terminate()
    flood.process.wait()
    receiver.wait()
    return 1000 * seconds, memory


def first_line(folder, *arguments):
    """The milliseconds from exec until the first line of history."""
    began = time.monotonic()
    history = subprocess.Popen([BINARY, "history", "--state-dir", folder, *arguments], stdout=subprocess.PIPE)
    line = history.stdout.readline()
    seconds = time.monotonic() - began
    history.kill()
    history.stdout.close()
    history.wait()
    if not line:
        raise AssertionError(f"history prints nothing: {arguments}")
    return 1000 * seconds


def bench_journal(fixes=10_000_000):
    """Prints the time and memory that opening a long journal takes, compared with an empty one."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        subprocess.run([LOAD, "journal", f"{folder}/long", str(fixes)], check=True)
        size = sum(path.stat().st_size for path in pathlib.Path(folder).rglob("*.journal"))
        print(f"\na journal of {fixes:,} fixes, {size / 1e6:,.0f} MB in {len(list(pathlib.Path(folder).rglob('*.journal')))} "
              f"segments, written in {time.monotonic() - began:.1f} s; best and median of 15:\n")
        print("| journal | exec to listening, ms | median | RssAnon, KiB | VmRSS, KiB | VmHWM, KiB |\n|---|---|---|---|---|---|")
        subprocess.run([LOAD, "journal", f"{folder}/one fix", "1"], check=True)
        for name in ("empty", "one fix", "long"):
            times = sorted(opened(f"{folder}/{name}") for _ in range(15))
            memory = times[7][1]
            print(f"| {name} | {times[0][0]:.1f} | {times[7][0]:.1f} | {memory[0]} | {memory[1]} | {memory[2]} |", flush=True)
        print("\n| first line of history | best, ms | median |\n|---|---|---|")
        # Fixes are a tenth of a second apart, from 1700000000 s on.
        for name, place, since in (
                ("of one fix", "one fix", ()), ("of the long journal", "long", ()),
                ("since its middle", "long", ("--since", f"@{1_700_000_000 + fixes // 20}")),
                ("since shortly before its end", "long", ("--since", f"@{1_700_000_000 + fixes // 10 - 60}"))):
            times = sorted(first_line(f"{folder}/{place}", *since) for _ in range(15))
            print(f"| {name} | {times[0]:.1f} | {times[7]:.1f} |", flush=True)


def bench_week(fixes=60_480_000):
    """Receives a week of ten collars with ten fixes a second, as fast as it goes."""
    with tempfile.TemporaryDirectory() as folder:
        if shutil.disk_usage(folder).free < 100 * fixes:
            raise SystemExit(f"{folder} has no room for {100 * fixes / 1e9:.0f} GB")
        flood, reader = Flood(10, fixes, "single"), into_nothing()
        receiver = receive(folder, flood, reader.stdin)
        reader.stdin.close()
        print(f"\n{fixes:,} fixes of ten collars:\n\n| s | stored, MB | RssAnon, KiB | VmRSS, KiB |\n|---|---|---|---|")
        began, last = time.monotonic(), 0
        while flood.process.poll() is None:
            time.sleep(0.5)
            if time.monotonic() - last < 10:
                continue
            last = time.monotonic()
            memory = status(receiver.pid, "RssAnon", "VmRSS")
            size = sum(path.stat().st_size for path in pathlib.Path(folder).rglob("*.journal"))
            print(f"| {last - began:.0f} | {size / 1e6:,.0f} | {memory[0]} | {memory[1]} |", flush=True)
        _, seconds = flood.seconds()
        receiver.wait()
        reader.wait()
        print(f"\nall acknowledged after {seconds:.0f} s: {fixes / seconds:,.0f} fixes/s")


FORMATS = ("json", "text", "csv", "gpx", "geojson", "geojson-track", "movebank", "influx", "owntracks", "traccar", "homeassistant", "nmea")


def exported(folder, form, counter):
    """The processor time of an export in seconds. With `counter`, wc reads the output; its count of bytes is the second result."""
    reader = subprocess.Popen(["wc", "-c"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) if counter else None
    history = subprocess.Popen([BINARY, "history", "--state-dir", folder, "-F", form],
                               stdout=reader.stdin if reader else subprocess.DEVNULL)
    if reader:
        reader.stdin.close()
    _, code, usage = os.wait4(history.pid, 0)
    if code:
        raise AssertionError(f"history -F {form} failed")
    byte_count = None
    if reader:
        byte_count = int(reader.stdout.read())
        reader.stdout.close()
        reader.wait()
    return usage.ru_utime + usage.ru_stime, byte_count


def export_memory(folder, form, byte_count):
    """The peak of the resident memory of an export in KiB, while it waits for the reader of its last bytes."""
    history = subprocess.Popen([BINARY, "history", "--state-dir", folder, "-F", form], stdout=subprocess.PIPE, bufsize=0)
    # More than a pipe holds stays unread.
    rest = byte_count - 200_000
    while rest > 0:
        rest -= len(history.stdout.read(min(rest, 1 << 20)))
    time.sleep(0.1)
    peak, = status(history.pid, "VmHWM")
    history.kill()
    history.stdout.close()
    history.wait()
    return peak


def bench_export(fixes=10_000_000, few=10_000):
    """Prints how fast `history` writes each format, and its memory, also with few fixes."""
    with tempfile.TemporaryDirectory() as folder:
        for name, count in (("many", fixes), ("few", few)):
            subprocess.run([LOAD, "journal", f"{folder}/{name}", str(count)], check=True)
        print(f"\n{fixes:,} fixes of one collar, millions of fixes per second of processor time of history, best of {ROUNDS}:\n")
        print(f"| format | into /dev/null | into wc -c | bytes a fix | peak RSS, KiB | of {few:,} fixes |\n|---|---|---|---|---|---|")
        for form in FORMATS:
            nothing, counted = ([exported(f"{folder}/many", form, counter) for _ in range(ROUNDS)] for counter in (False, True))
            rates = [fixes / min(seconds for seconds, _ in each) / 1e6 for each in (nothing, counted)]
            sizes = counted[0][1], exported(f"{folder}/few", form, True)[1]
            peaks = [export_memory(f"{folder}/{name}", form, size) for name, size in zip(("many", "few"), sizes)]
            print(f"| {form} | {rates[0]:.1f} | {rates[1]:.1f} | {sizes[0] / fixes:.0f} | {peaks[0]} | {peaks[1]} |", flush=True)


PARTS = {"flood": bench_flood, "journal": bench_journal, "export": bench_export, "week": bench_week}
PARTS[sys.argv[1]](*(int(word) for word in sys.argv[5:]))
