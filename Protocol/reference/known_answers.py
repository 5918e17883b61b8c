"""Checks Ascon against the known answers of its authors."""

from pathlib import Path

import ascon

CASES = 1089  # in each file


def cases(path):
    """The cases of a file: name -> text, one line each, with an empty line after each case."""
    for part in path.read_text("ascii").split("\n\n"):
        case = {name.strip(): value.strip() for name, _, value in (line.partition("=") for line in part.splitlines())}
        if case:
            yield case


def aead_agrees(case):
    """Whether a case of Ascon-AEAD128 agrees in both directions, and a wrong tag is found."""
    key, nonce, plaintext, associated, answer = (bytes.fromhex(case[name]) for name in ("Key", "Nonce", "PT", "AD", "CT"))
    ciphertext, tag = answer[:-ascon.TAG_SIZE], answer[-ascon.TAG_SIZE:]
    wrong = tag[:-1] + bytes([tag[-1] ^ 1])
    return (ascon.encrypt(key, nonce, associated, plaintext) == (ciphertext, tag)
            and ascon.decrypt(key, nonce, associated, ciphertext, tag) == plaintext
            and ascon.decrypt(key, nonce, associated, ciphertext, wrong) is None)


def cxof_agrees(case):
    """Whether a case of Ascon-CXOF128 agrees, whole and cut short."""
    message, customization, answer = (bytes.fromhex(case[name]) for name in ("Msg", "Z", "MD"))
    return (ascon.cxof(message, customization, len(answer)) == answer
            and ascon.cxof(message, customization, 11) == answer[:11])


FILES = (("Ascon-AEAD128", "LWC_AEAD_KAT_128_128.txt", aead_agrees),
         ("Ascon-CXOF128", "LWC_CXOF_KAT_128_512.txt", cxof_agrees))


def check(folder):
    """Check all known answers in a folder. Returns the exit status."""
    status = 0
    for algorithm, name, agrees in FILES:
        found = list(cases(Path(folder) / name))
        agreeing = sum(agrees(case) for case in found)
        print(f"{algorithm}: {agreeing} of {len(found)} known answers agree")
        if agreeing != CASES or len(found) != CASES:
            status = 1
    return status
