"""Reads the log of a collar from the file of its flash, without the firmware's code (Sources/CollarFirmware/Flash/FixLog.swift)."""


from emulated_board import BLOCK, FLASH_BLOCKS

from wire import crc24

FACTORY_BLOCKS, FIRST_LOG_BLOCK = 2, 4
HEADER, SLOT = 20, 36
HEADER_MARK = 0x434C4632
KEYED, MESSAGE = 1 << 31, 0x40


def _is_sealed(record, count, seed):
    return crc24(seed.to_bytes(4, "big") + record[:count]) == int.from_bytes(record[count:count + 3], "big")


def read_log(path):
    """The sequences of the log whose entries are whole, and those whose slots a power cut tore."""
    with open(path, "rb") as file:
        file.seek((FACTORY_BLOCKS + FIRST_LOG_BLOCK) * BLOCK)
        blocks = [file.read(BLOCK) for _ in range(FLASH_BLOCKS - FIRST_LOG_BLOCK)]
    whole, torn = set(), set()
    for block in blocks:
        mark, log, first = (int.from_bytes(block[place:place + 4], "big") for place in (0, 4, 8))
        if mark != HEADER_MARK or not _is_sealed(block, 16, 0):
            continue
        log &= ~KEYED
        used = []
        for number in range((BLOCK - HEADER) // SLOT):
            slot = block[HEADER + number * SLOT:][:SLOT]
            sequence = first + number
            if slot == b"\xff" * SLOT:
                continue
            count = slot[0] & ~MESSAGE
            is_whole = 0 < count <= 31 and _is_sealed(slot, count + 1, (log + sequence * 2654435769) % (1 << 32))
            (whole if is_whole else torn).add(sequence)
            used.append(sequence)
        # A collar that has lost its place goes on with the next block.
        if used and max(used) - first + 1 != len(used):
            raise AssertionError(f"the block of sequence {first} has holes: {used}")
    return whole, torn
