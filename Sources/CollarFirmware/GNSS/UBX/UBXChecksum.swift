/// The checksum of a UBX message: two sums of the bytes from the class up to the end of the payload (8-bit Fletcher).
struct UBXChecksum: Equatable {
    private(set) var first: UInt8 = 0
    private(set) var second: UInt8 = 0

    mutating func add(_ byte: UInt8) {
        first &+= byte
        second &+= first
    }
}
