import Glibc

/// Whether sweeps of the unit tests take all of their seeds, losses, power cuts and contents (`Tools/check sweeps`), or the part
/// of them that takes seconds.
public let sweepsAreLong = unsafe getenv("COLLAR_LINK_LONG_SWEEPS") != nil
