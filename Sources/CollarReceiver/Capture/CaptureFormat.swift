/// The numbers of the capture format. It is pcapng (draft-ietf-opsawg-pcapng), whose blocks Wireshark reads.
enum CaptureFormat {
    /// Link type USER3: a packet is one record of a capture.
    static let linkType: UInt16 = 150
    /// The version of a record, its first byte.
    static let version: UInt8 = 1
    /// Bytes of a record before its content: version, event, round, and the time of day in milliseconds.
    static let headerByteCount = 12
    /// Bytes of a block around its body: type, length, and the length again.
    static let blockOverhead = 12
    /// The largest block that a reader takes, in bytes.
    static let blockByteLimit = 16 << 20

    /// Types of blocks.
    enum Block {
        static let section: UInt32 = 0x0A0D_0D0A
        static let interface: UInt32 = 1
        static let packet: UInt32 = 6
    }

    /// The number by which a section shows its byte order.
    static let byteOrderMagic: UInt32 = 0x1A2B_3C4D

    /// Codes of options.
    enum Option {
        static let end: UInt16 = 0
        static let comment: UInt16 = 1
        static let application: UInt16 = 4
        static let name: UInt16 = 2
        static let timeResolution: UInt16 = 9
        static let packetFlags: UInt16 = 2
    }

    /// The bytes that a capture begins with, in either byte order.
    static let magic: [UInt8] = [0x0A, 0x0D, 0x0D, 0x0A]
}
