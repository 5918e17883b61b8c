"""Ascon-AEAD128 and Ascon-CXOF128 (NIST SP 800-232).

The state is a list of five words of 64 bits. Bytes enter and leave a word with the first byte as the lowest.
"""

import hmac

AEAD_INITIAL, CXOF_INITIAL = 0x00001000808C0001, 0x0000080000CC0004
AEAD_BLOCK, CXOF_BLOCK = 16, 8
TAG_SIZE = 16
LONGEST_CUSTOMIZATION = 256  # bytes
WORD = (1 << 64) - 1
# By word: the two rotations of the linear layer.
ROTATIONS = ((19, 28), (61, 39), (1, 6), (10, 17), (7, 41))


def _rotated(word, count):
    """The word rotated to the right."""
    return (word >> count | word << (64 - count)) & WORD


def permute(state, rounds):
    """The last rounds, at most 12, of the permutation."""
    for number in range(12 - rounds, 12):
        state[2] ^= 0xF0 - 0x0F * number
        for to, by in ((0, 4), (4, 3), (2, 1)):
            state[to] ^= state[by]
        chi = [~state[place] & state[(place + 1) % 5] for place in range(5)]
        for place in range(5):
            state[place] ^= chi[(place + 1) % 5]
        for to, by in ((1, 0), (0, 4), (3, 2)):
            state[to] ^= state[by]
        state[2] ^= WORD
        for place, (first, second) in enumerate(ROTATIONS):
            state[place] ^= _rotated(state[place], first) ^ _rotated(state[place], second)


def _words(data):
    """The words of 8 bytes each."""
    return [int.from_bytes(data[place:place + 8], "little") for place in range(0, len(data), 8)]


def _bytes(words):
    """The bytes of words."""
    return b"".join(word.to_bytes(8, "little") for word in words)


def _blocks(data, size):
    """The data in blocks. The last one is shorter than the others, and may be empty: it has room for the padding."""
    return [data[place:place + size] for place in range(0, len(data) + 1, size)]


def _absorb(state, words):
    """Add words to the first ones of the state."""
    for place, word in enumerate(words):
        state[place] ^= word


def _absorb_block(state, block, size):
    """Add a block to the state. A block that is not full is padded: one bit 1, then zeros."""
    if len(block) < size:
        block = (block + b"\x01").ljust(size, b"\0")
    _absorb(state, _words(block))


# Ascon-AEAD128

def encrypt(key, nonce, associated, plaintext):
    """The ciphertext and its tag of 16 bytes."""
    return _crypt(key, nonce, associated, plaintext, decrypts=False)


def decrypt(key, nonce, associated, ciphertext, tag):
    """The plaintext, or None if the tag is wrong. The tag may be the first bytes of a whole one."""
    if not 0 < len(tag) <= TAG_SIZE:
        raise ValueError("a tag has 1 … 16 bytes")
    plaintext, whole = _crypt(key, nonce, associated, ciphertext, decrypts=True)
    return plaintext if hmac.compare_digest(whole[:len(tag)], tag) else None


def _crypt(key, nonce, associated, text, decrypts):
    """The other text, and the tag."""
    if len(key) != 16 or len(nonce) != 16:
        raise ValueError("a key and a nonce have 16 bytes")
    key_words = _words(key)
    state = [AEAD_INITIAL, *key_words, *_words(nonce)]
    permute(state, 12)
    state[3] ^= key_words[0]
    state[4] ^= key_words[1]

    if associated:
        for block in _blocks(associated, AEAD_BLOCK):
            _absorb_block(state, block, AEAD_BLOCK)
            permute(state, 8)
    state[4] ^= 1 << 63  # the text begins

    other = b""
    for number, block in enumerate(_blocks(text, AEAD_BLOCK)):
        if number > 0:
            permute(state, 8)
        out = bytes(mine ^ stream for mine, stream in zip(block, _bytes(state[:2])))
        _absorb_block(state, out if decrypts else block, AEAD_BLOCK)
        other += out

    state[2] ^= key_words[0]
    state[3] ^= key_words[1]
    permute(state, 12)
    return other, _bytes([state[3] ^ key_words[0], state[4] ^ key_words[1]])


# Ascon-CXOF128

def cxof(message, customization, size):
    """The first bytes of the output, as many as `size`."""
    if len(customization) > LONGEST_CUSTOMIZATION:
        raise ValueError("customization too long")
    state = [CXOF_INITIAL, 0, 0, 0, 0]
    permute(state, 12)
    _absorb(state, [8 * len(customization)])
    permute(state, 12)
    for block in _blocks(customization, CXOF_BLOCK) + _blocks(message, CXOF_BLOCK):
        _absorb_block(state, block, CXOF_BLOCK)
        permute(state, 12)
    output = _bytes(state[:1])
    while len(output) < size:
        permute(state, 12)
        output += _bytes(state[:1])
    return output[:size]
