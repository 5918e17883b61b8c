"""The source check: rules of this project that a program can check. Prints where the source breaks them."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORE = ("CollarWire", "CollarARQ", "CollarFirmware")
MAXIMUM_LINES = 700
DECLARATION = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:public|open)(?:\s+(?:internal|private|fileprivate|package)\(set\))?\s+"
    r"(?:(?:final|static|class|mutating|nonmutating|consuming|borrowing|convenience|required|override|lazy|indirect|"
    r"nonisolated|unowned|weak|prefix|postfix|infix|isolated|dynamic)\s+)*"
    r"(?:struct|enum|class|actor|protocol|func|var|let|init|subscript|typealias|associatedtype|case|operator)\b")


def swift_files(*folders):
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.swift"))


def matches(files, pattern, strip_comments=True):
    for path in files:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            code = line.split("//")[0] if strip_comments else line
            if re.search(pattern, code):
                yield path, number, line.strip()


def core_is_pure():
    """The portable core has no unsafe pointers and imports no library of the operating system."""
    files = list(swift_files(*(f"Sources/{name}" for name in CORE)))
    yield from matches(files, r"Unsafe|\bimport\s+(Foundation|Glibc|Musl|Darwin)")


def core_imports():
    """Each target of the portable core imports only lower targets of the core. CollarWire also imports an instruction that Swift lacks."""
    allowed = {"CollarWire": {"CCarrylessMultiply"}, "CollarARQ": {"CollarWire"}, "CollarFirmware": {"CollarWire", "CollarARQ"}}
    for target, names in allowed.items():
        for path, number, line in matches(swift_files(f"Sources/{target}"), r"^\s*(?:\w+\s+)?import\s"):
            if line.split()[-1] not in names:
                yield path, number, line


def imports_follow_the_table():
    """Each target imports only targets below it, and only those of its row, in the table of Sources/README.md, which names them all."""
    page = ROOT / "Sources/README.md"
    rows = dict(re.findall(r"^\| `([\w-]+)` \|.*\| ([^|]+) \|$", page.read_text(), re.MULTILINE))
    order = list(rows)
    for folder in sorted(path for path in (ROOT / "Sources").iterdir() if path.is_dir()):
        if list(folder.glob("**/*.swift")) and folder.name not in order:
            yield page, 0, f"{folder.name} is missing"
    for place, (target, text) in enumerate(rows.items()):
        short = re.findall(r"\w+", text)
        allowed = {name for name in order if name in short or name.removeprefix("Collar") in short}
        if target == "collar-link":
            allowed = set(order) - {"CollarLink", "CollarLinkTesting"}
        for path, number, line in matches(swift_files(f"Sources/{target}"), r"^\s*(?:@\w+\s+)*(?:\w+\s+)?import\s"):
            name = line.split()[-1]
            if name in order and (order.index(name) <= place or name not in allowed):
                yield path, number, line


def foundation_is_in_one_place():
    """Only the libraries for Swift programs import Foundation or the regex engine."""
    folders = sorted(path for path in (ROOT / "Sources").iterdir() if path.is_dir() and not path.name.startswith("CollarLink"))
    yield from matches(swift_files(*(f"Sources/{path.name}" for path in folders)), r"^\s*import\s+(Foundation|_StringProcessing|RegexBuilder)")


def host_has_no_clock():
    """The host imports only CollarWire, CollarARQ, CollarJournal and CollarTracking: it reads no clock and opens nothing itself."""
    allowed = {"CollarWire", "CollarARQ", "CollarJournal", "CollarTracking"}
    for path, number, line in matches(swift_files("Sources/CollarHost"), r"^\s*(?:@\w+\s+)*(?:\w+\s+)?import\s"):
        if line.split()[-1] not in allowed:
            yield path, number, line
    yield from matches(swift_files("Sources/CollarHost"), r"\b(clock_gettime|ContinuousClock|SuspendingClock|SystemClock|Date\()")


def planted_bugs_apply():
    """Each planted bug names the code that it breaks, exactly."""
    for path in sorted((ROOT / "Tools/simulation/planted").glob("*.patch")):
        with path.open() as text:
            done = subprocess.run(
                ["patch", "--dry-run", "-s", "-f", "-F0", "-p1"], cwd=ROOT, stdin=text, capture_output=True, text=True, check=False)
        if done.returncode:
            yield path, 0, done.stdout.strip()


def handles_have_types():
    """No Int is named like a link, session, port, client, log or radio, or returned by a function that is named for one."""
    name = r"(?:link|session|port|client|log|radio)(?:ID|Index|Number)?"
    folders = ("Sources/CollarHost", "Sources/CollarReceiver", "Sources/CollarControl", "Sources/CollarReaders", "Sources/CollarJournal", "Sources/SerialDevices")
    yield from matches(swift_files(*folders), rf"\b{name}(?: \w+)?: *Int\b|\bfunc \w*(?:link|session|client)\w*\(.*\) *->.*\bInt\b")


NUMBER = r"(?:U?Int(?:8|16|32|64|128)?|Double|Float|Value)"
# What stands before a conversion whose result is optional.
OPTIONAL_BEFORE = re.compile(
    r"(?:\b(?:if|guard|while)\s+|,\s*)(?:let|var)\s+\w+\s*(?::\s*[\w.?]+\s*)?=\s*$|\b(?:flat|compact)Map\s*\(?\{\s*(?:\w+ in\s+)?$|:\s*\w+\?\s*=\s*$")
OPTIONAL_AFTER = re.compile(r"\s*(?:\?\?|[!=]=\s*nil\b)")
TEXT = re.compile(r"\bradix:|\bas: UTF8|^(?:String|Substring)\(|^\"|\.(?:utf8|drop\w+|prefix|suffix|trimmed)\b[^.]*$|^\w*[tT]ext$|^(?:words?|parts?)\b")
# Lines that the rule must find, and lines that it must not.
CONVERSIONS = (
    'guard let count = Int(words[1]) else {', 'if let time: Int64 = Int64(found), time > 0 {', 'seen = Int64(words[1])',
    'let id = text.flatMap { UInt64($0, radix: 16) }', 'let rate = Double(text) ?? 0', 'list.compactMap { UInt32($0) }',
    'UInt8(String(decoding: digits, as: UTF8.self), radix: 16)', 'line.split(separator: ":").map { Int64($0) }',
    'list.compactMap(Int.init)', 'return Int(line.dropFirst(2))', 'if UInt(head) != nil {', 'strtol(start, nil, 10)', 'let x: Int? = Int(found)')
NO_CONVERSIONS = (
    'guard let count = Int(words[1], in: 0...9) else {', 'Int64(settings.powerDBm)', 'String(value, radix: 16)', 'UInt8(ascii: "a")',
    'frame.data.first.map(Int64.init)', 'list.map { Double($0) / 10 }', 'guard let code = UInt32(exactly: steps) else {',
    'UInt8(digits: bytes[2...], radix: 16, in: 0 ... .max)', 'UInt64(text.count)', 'Int32(bitPattern: number(at: 0))')


def conversions_of_text(code):
    """The places in a Swift source at which it makes a number of a text without a range."""
    code = re.sub(r"//[^\n]*", lambda comment: " " * len(comment.group()), code)
    for found in re.finditer(rf"\b(?:strto\w+|ato[fil]+|sscanf)\(|\b(?:flat|compact)Map\({NUMBER}\.init\b|split\([^\n]*\.map\({NUMBER}\.init\b", code):
        yield found.start()
    for found in re.finditer(rf"(?<![\w.]){NUMBER}\(", code):
        end = closing(code, found.end())
        arguments = code[found.end():end - 1].strip()
        if re.search(r"\bin:", arguments) or re.match(r"(?:hexadecimal|exactly|bitPattern|clamping|truncatingIfNeeded|ascii|rawValue):", arguments):
            continue
        before = code[max(0, found.start() - 120):found.start()]
        line = before.rpartition("\n")[2]
        if (OPTIONAL_BEFORE.search(before) or OPTIONAL_AFTER.match(code, end) or TEXT.search(arguments)
                or arguments == "$0" and "split(" in line):
            yield found.start()


def closing(code, start):
    """The place after the parenthesis that closes one that was opened before `start`."""
    depth = 1
    for place in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[place], 0)
        if depth == 0:
            return place + 1
    return len(code)


def numbers_have_ranges():
    """Outside of the core, CheckedNumbers alone makes numbers of text: each with a range."""
    for line in CONVERSIONS:
        if not list(conversions_of_text(line)):
            yield pathlib.Path(__file__), 0, f"not found: {line}"
    for line in NO_CONVERSIONS:
        if list(conversions_of_text(line)):
            yield pathlib.Path(__file__), 0, f"no conversion of text: {line}"
    folders = sorted(path.name for path in (ROOT / "Sources").iterdir() if path.is_dir() and path.name not in (*CORE, "CheckedNumbers"))
    for path in swift_files(*(f"Sources/{name}" for name in folders)):
        code = path.read_text()
        for place in conversions_of_text(code):
            number = code.count("\n", 0, place) + 1
            yield path, number, code.splitlines()[number - 1].strip()


def no_forced_try():
    """There is no forced try and no forced cast."""
    yield from matches(swift_files("Sources", "Tests"), r"\btry!|\bas!")


def nothing_left_to_do():
    """No comment leaves work to be done later."""
    texts = [ROOT / "Package.swift", ROOT / "README.md", ROOT / "Tools/run", ROOT / "Tools/test"]
    for folder in ("Sources", "Tests", "Tools/lib", "Protocol", "hardware"):
        for suffix in ("swift", "py", "sh", "md", "c", "h", "rules", "json"):
            texts += sorted((ROOT / folder).rglob(f"*.{suffix}"))
    # Spelt so that this file is not its own first finding.
    yield from matches((path for path in texts if path.exists()), r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b", False)


def public_is_documented():
    """Every public declaration has a doc comment."""
    for path in swift_files("Sources"):
        lines = path.read_text().splitlines()
        for index, line in enumerate(lines):
            if not DECLARATION.match(line):
                continue
            above = index - 1
            while above >= 0 and re.match(r"\s*@\w", lines[above]):
                above -= 1
            if above < 0 or not re.match(r"\s*(///|.*\*/\s*$)", lines[above]):
                yield path, index + 1, line.strip()


def files_are_short():
    """No Swift file of the sources and tests has more than 700 lines."""
    for path in swift_files("Sources", "Tests"):
        count = len(path.read_text().splitlines())
        if count > MAXIMUM_LINES:
            yield path, count, f"{count} lines"


def protocol_sections_agree():
    """The contents, headings and references of PROTOCOL.md agree, and other files name only sections that exist."""
    page = ROOT / "Protocol/PROTOCOL.md"
    lines = page.read_text().splitlines()
    headings = [(index, line) for index, line in enumerate(lines, 1) if re.match(r"## \d", line)]
    names = []
    for number, (index, line) in enumerate(headings, 1):
        title = re.sub(r" \(types? [^)]*\)", "", line).removeprefix(f"## {number} ")
        if title.startswith("#"):
            yield page, index, f"{line}: number {number} is expected"
        names.append(f"{number} {title[0].lower()}{title[1:]}")
    contents = "Contents: " + " · ".join(names)
    if contents not in lines:
        yield page, 5, f"expected: {contents}"
    texts = [page, ROOT / "README.md", ROOT / "hardware/README.md", ROOT / "Tools/README.md"]
    for folder, suffix in (("Protocol", "py"), ("Protocol", "lua"), ("Sources", "swift"), ("Sources", "md"), ("Tests", "swift"), ("Tests", "py")):
        texts += sorted((ROOT / folder).rglob(f"*.{suffix}"))
    for path in texts:
        for index, line in enumerate(path.read_text().splitlines(), 1):
            for reference in re.finditer(r"\bsections? (\d+)(?:(?: and | to |, | … )(\d+))*", line):
                if any(not 1 <= int(number) <= len(headings) for number in reference.groups() if number):
                    yield path, index, f"there is no {reference.group()}"


# Words that make a reader stop: write "again", "this many" or the name of the number, "asked for", "overrides", what somebody does, and "in
# alternation".
STUMBLING = re.compile(r"\b(?:anew|so many|(?:is|are) wanted|go(?:es)? before|(?:is|are) to be|by turns)\b", re.IGNORECASE)


def words_are_plain():
    """No comment, message or document has one of the words in a list."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines()
    for path in (ROOT / name for name in listed if not name.startswith("Protocol/vectors/")):
        if path == pathlib.Path(__file__).resolve() or not path.is_file():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if STUMBLING.search(line):
                yield path, number, STUMBLING.search(line).group()


RULES = (
    core_is_pure, core_imports, imports_follow_the_table, foundation_is_in_one_place, host_has_no_clock, handles_have_types, numbers_have_ranges,
    no_forced_try, nothing_left_to_do, public_is_documented, files_are_short, protocol_sections_agree, planted_bugs_apply, words_are_plain)


def main():
    if not list(swift_files("Sources")):
        sys.exit("there are no sources: the check would prove nothing")
    broken = 0
    for rule in RULES:
        findings = list(rule())
        broken += bool(findings)
        print("FAILED " if findings else "ok     ", rule.__doc__)
        for path, number, line in findings:
            print(f"        {path.relative_to(ROOT)}:{number}: {line}")
    print(f"{len(RULES) - broken} rules kept, {broken} broken")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
