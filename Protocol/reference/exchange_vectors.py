"""The vectors of keys over a cable (section 23): name -> vector."""

import ascon
import exchange
import frames
import sealing
import sealing_collar
from exchange import KEY_ACTIVATION, KEY_OFFER, KEY_REQUEST, LABEL_OF_ACTIVATION, LABEL_OF_REQUEST, Offer, proof
from frames import Log
from sealed_parts import BOOT, COLLAR, COUNTER, KEY, OTHER_KEY, flipped, keys_of
from sealing_keys import derive, expand
from vector_parts import ADDRESS, IDENTITY, LOG, OTHER_DEVICE, bound_to
from wire import ProtocolError

ORIGIN = "values written by hand, frames encoded by the reference implementation"
ORIGIN_FAULT = "frames encoded by the reference implementation; then the one that `error` names was changed by hand"
NEW_KEY = bytes.fromhex("c61e93f80b7254ad9f02d7356ae84b1c")
ZEROS, ONES = bytes(16), b"\xff" * 16
HIGHEST = (1 << 32) - 1
HIGHEST_COUNTER = HIGHEST - 1
HIGHEST_LOG = (1 << 26) - 1
OFFER = Offer(ADDRESS, LOG, BOOT, COUNTER, NEW_KEY)
CLEAR_OFFER = OFFER._replace(counter=None)


class ExchangeVectors:
    """Collects vectors of exchanges."""

    def __init__(self):
        self.vectors = {}

    def add(self, name, meaning, offer=OFFER, key=KEY):
        """A good exchange. If the offer has no counter, the request has no proof."""
        key = None if offer.counter is None else key
        title = "No proof" if key is None else "Proof"
        self._put(f"{title.lower().replace(' ', '-')}-{name}", f"{title}: {meaning}.", ORIGIN, offer, key,
                  exchange.build(offer, key))

    def fault(self, place, name, meaning, frame, offer=OFFER, error="not_opened"):
        """An exchange of which one frame, the one of this place, must have no effect. `error` is its fault."""
        key = None if offer.counter is None else KEY
        good = exchange.build(offer, key)
        if frame == good[place]:
            raise AssertionError(f"{place} {name} is good")
        self._put(f"no-effect-{place}-{name}", f"{place.title()}: {meaning}.", ORIGIN_FAULT, offer, key,
                  {**good, place: frame}, (place, error))

    def _put(self, name, meaning, origin, offer, key, sent, fault=None):
        for place, frame in sent.items():
            found = None
            try:
                if exchange.read(place, frame, offer, key) not in (None, offer):
                    raise AssertionError(f"{name}: {place} says something else")
            except ProtocolError as error:
                found = place, error.reason
            if found != (fault if fault and fault[0] == place else None):
                raise AssertionError(f"{name}: {place} has the fault {found}")
        if name in self.vectors:
            raise AssertionError(f"{name} twice")
        vector = {"meaning": meaning, "origin": origin, "key": key and key.hex(), **bound_to(offer.log),
                  "boot_count": offer.boot_count, "address": offer.address, "new_key": offer.new_key.hex(),
                  "counter": offer.counter, **{place: frame.hex() for place, frame in sent.items()}}
        self.vectors[name] = {**vector, "error": fault[0]} if fault else vector


def add_good(v):
    """Good exchanges: counters, boot counts, logs, addresses, keys and devices."""
    for offer in (OFFER, CLEAR_OFFER):
        v.add("plain", "a collar with usual values", offer)
        v.add("log-0", "the log id is 0", offer._replace(log=Log(LOG.device_id, 0)))
        v.add(f"log-{HIGHEST_LOG}", f"the log id is {HIGHEST_LOG}", offer._replace(log=Log(LOG.device_id, HIGHEST_LOG)))
        for boot_count in (1, HIGHEST):
            v.add(f"boot-count-{boot_count}", f"boot count {boot_count}", offer._replace(boot_count=boot_count))
        for address in (1, 254):
            v.add(f"address-{address}", f"the collar is at address {address}", offer._replace(address=address))
        v.add("other-device", "the same keys at another device", offer._replace(log=OTHER_DEVICE))
        v.add("zeros", "all bits of the new key and of the device id are zeros, those of the key, if any, ones",
              offer._replace(log=Log(0, LOG.log_id), new_key=ZEROS), ONES)
        v.add("ones", "all bits of the new key and of the device id are ones, those of the key, if any, zeros",
              offer._replace(log=Log((1 << 64) - 1, LOG.log_id), new_key=ONES), ZEROS)
    for counter in (0, 255, 256, HIGHEST_COUNTER):
        v.add(f"counter-{counter}", f"the offer has counter {counter}", OFFER._replace(counter=counter))
    v.add("lowest", "log id, boot count and counter are at their lowest",
          OFFER._replace(log=Log(LOG.device_id, 0), boot_count=1, counter=0))
    v.add("highest", "log id, boot count and counter are at their highest",
          OFFER._replace(log=Log(LOG.device_id, HIGHEST_LOG), boot_count=HIGHEST, counter=HIGHEST_COUNTER))


def with_check(number, payload, address=exchange.EVERY_COLLAR, flags=0, log=None):
    """A frame in clear with a right CRC."""
    return frames.assemble(frames.VERSION << 5 | number, flags, address, 0, payload, log)


def add_proof_faults(v):
    """Requests and activations with a wrong proof. Their CRC is right."""
    device_id = LOG.device_id
    for place, number, key, label, wrong_label in (
            ("request", KEY_REQUEST, KEY, LABEL_OF_REQUEST, LABEL_OF_ACTIVATION),
            ("activation", KEY_ACTIVATION, NEW_KEY, LABEL_OF_ACTIVATION, LABEL_OF_REQUEST)):
        right = proof(key, device_id, label)

        def add(name, meaning, payload, error="check_failed"):
            v.fault(place, name, meaning, with_check(number, payload), error=error)

        add("proof-first-bit", "the first bit of its proof is wrong", flipped(right, 0, 7))
        add("proof-last-bit", "the last bit of its proof is wrong", flipped(right, -1))
        add("other-label", f"its proof is made with the label {wrong_label.decode()}, that of the other frame",
            proof(key, device_id, wrong_label))
        add("other-device", "its proof is that of another device with the same key", proof(key, OTHER_DEVICE.device_id, label))
        add("other-key", "its proof is made with another key", proof(OTHER_KEY, device_id, label))
        add("byte-lost", "its proof has 7 bytes", right[:-1], "truncated")
        add("byte-gained", "there is a zero byte behind its proof", right + b"\0", "trailing_bytes")
    v.fault("request", "new-key", "its proof is made with the new key",
            with_check(KEY_REQUEST, proof(NEW_KEY, device_id, LABEL_OF_REQUEST)), error="check_failed")
    v.fault("activation", "old-key", "its proof is made with the key that K' replaces",
            with_check(KEY_ACTIVATION, proof(KEY, device_id, LABEL_OF_ACTIVATION)), error="check_failed")
    v.fault("activation", "empty", "it has no proof", with_check(KEY_ACTIVATION, b""), error="truncated")


def add_frame_faults(v):
    """Requests and activations whose header or CRC is wrong, with a right proof."""
    good = exchange.build(OFFER, KEY)
    for place in ("request", "activation"):
        frame = good[place]
        number, payload = frame[0] & 0x1F, frame[4:-3]
        v.fault(place, "bad-check", "its CRC is wrong in one bit", flipped(frame, -1), error="check_failed")
        v.fault(place, "bound", "its CRC is bound to the log", with_check(number, payload, log=LOG), error="check_failed")
        v.fault(place, "critical-flag", "a critical flag is 1", with_check(number, payload, flags=0x40), error="critical_flags")
        v.fault(place, "sealed-flag", "its flags say that it is sealed", with_check(number, payload, flags=0x80))
    v.fault("request", "no-proof-bad-check", "it has no proof, and its CRC is wrong in one bit",
            flipped(exchange.build(CLEAR_OFFER, None)["request"], -1), CLEAR_OFFER, "check_failed")
    v.fault("request", "no-proof-byte-gained", "it has a zero byte in the place of a proof",
            with_check(KEY_REQUEST, b"\0"), CLEAR_OFFER, "trailing_bytes")


def add_sealed_offer_faults(v):
    """Sealed offers."""
    good = exchange.build_offer(OFFER, KEY)
    if _by_hand(0, 0) != good:
        raise AssertionError("the offer differs from the one that is sealed by hand")

    def add(name, meaning, frame):
        v.fault("offer", name, meaning, frame)

    for name, part, place, bit in (
            ("address", "its address", 2, 0), ("low-byte", "the low byte of its counter", 3, 0), ("poll", "its poll number", 1, 0),
            ("flag-3", "flag bit 3", 1, 3), ("long", "the flag long", 1, 4), ("log", "the masked log id", 4, 0),
            ("reserved", "the masked bits behind the log id", 7, 0), ("boot-count", "the masked boot count", 11, 0),
            ("counter", "the masked counter", 14, 0), ("ciphertext-first", "the first byte of the ciphertext", 15, 7),
            ("ciphertext-last", "the last byte of the ciphertext", 30, 0), ("tag-first", "the first byte of the tag", 31, 7),
            ("tag-last", "the last byte of the tag", 38, 0)):
        add(f"flipped-{name}", f"one bit is wrong in {part}", flipped(good, place, bit))
    add("byte-lost", "its last byte is lost", good[:-1])
    add("byte-gained", "there is a zero byte behind its tag", good + b"\0")
    add("other-key", "it is sealed with another key", exchange.build_offer(OFFER, OTHER_KEY))
    add("new-key", "it is sealed with the new key", exchange.build_offer(OFFER, NEW_KEY))
    add("other-device", "it is of another device with the same key", exchange.build_offer(OFFER._replace(log=OTHER_DEVICE), KEY))
    add("text-short", "its plaintext has 15 bytes, and its tag is right", exchange.seal_offer(OFFER, KEY, NEW_KEY[:-1]))
    add("text-long", "its plaintext has a zero byte behind the key, and its tag is right",
        exchange.seal_offer(OFFER, KEY, NEW_KEY + b"\0"))
    add("flag-long", "the flag long is 1, and its tag is right", exchange.seal_offer(OFFER, KEY, NEW_KEY, sealing_collar.LONG))
    add("reserved", "a bit behind the log id is 1 in the clear part, and its tag is right", _by_hand(0, 1))
    add("reserved-nonce", "a bit behind the log id is 1 in the clear part and the nonce, and its tag is right", _by_hand(1, 1))
    identity = sealing.seal(frames.encode(1, IDENTITY, ADDRESS, 0, LOG), keys_of(COLLAR), COLLAR)
    add("identity", "it is the sealed identity of the collar with the type of an offer",
        bytes([frames.VERSION << 5 | KEY_OFFER]) + identity[1:])
    add("clear", "it is in clear, and the request has a proof", exchange.build_offer(CLEAR_OFFER))


def _by_hand(nonce_bit, part_bit):
    """The sealed offer with other values of the last of the six bits behind the log id, in the nonce and in the clear part."""
    keys, header = derive(KEY, LOG.device_id), bytes([0x2E, 0x80, ADDRESS, COUNTER & 0xFF])
    numbers = (LOG.log_id << 6).to_bytes(4, "big") + BOOT.to_bytes(4, "big") + COUNTER.to_bytes(4, "big")
    nonce, part = flipped(numbers + bytes(4), 3) if nonce_bit else numbers + bytes(4), numbers[:11]
    part = flipped(part, 3) if part_bit else part
    ciphertext, tag = ascon.encrypt(keys.up, nonce, header + bytes([39]) + part, NEW_KEY)
    mask = expand(keys.mask + tag[:8], 11)
    return header + bytes(mine ^ other for mine, other in zip(part, mask)) + ciphertext + tag[:8]


def add_clear_offer_faults(v):
    """Offers in clear."""
    good = exchange.build_offer(CLEAR_OFFER)
    payload = exchange.clear_payload(CLEAR_OFFER)

    def add(name, meaning, frame, error):
        v.fault("offer", f"in-clear-{name}", f"in clear, {meaning}", frame, CLEAR_OFFER, error)

    add("bad-check", "its CRC is wrong in one bit", flipped(good, -1), "check_failed")
    add("flipped-key", "one bit of the key is wrong", flipped(good, 20), "check_failed")
    add("bound", "its CRC is bound to the log", with_check(KEY_OFFER, payload, ADDRESS, log=LOG), "check_failed")
    add("byte-lost", "its key has 15 bytes", with_check(KEY_OFFER, payload[:-1], ADDRESS), "truncated")
    add("byte-gained", "there is a zero byte behind the key", with_check(KEY_OFFER, payload + b"\0", ADDRESS), "trailing_bytes")
    add("critical-flag", "a critical flag is 1", with_check(KEY_OFFER, payload, ADDRESS, 0x20), "critical_flags")
    add("sealed-flag", "its flags say that it is sealed", with_check(KEY_OFFER, payload, ADDRESS, 0x80), "not_opened")
    v.fault("offer", "sealed", "it is sealed, and the request has no proof", exchange.build_offer(OFFER, KEY), CLEAR_OFFER)


def all_vectors():
    """Every vector of an exchange."""
    v = ExchangeVectors()
    add_good(v)
    add_proof_faults(v)
    add_frame_faults(v)
    add_sealed_offer_faults(v)
    add_clear_offer_faults(v)
    return v.vectors
