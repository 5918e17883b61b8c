import CollarJournal

/// The numbers of the capture format. It is pcapng (draft-ietf-opsawg-pcapng), whose blocks Wireshark reads.
package enum CaptureFormat {
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

    enum Block {
        static let section: UInt32 = 0x0A0D_0D0A
        static let interface: UInt32 = 1
        static let packet: UInt32 = 6
    }

    /// The number by which a section shows its byte order.
    static let byteOrderMagic: UInt32 = 0x1A2B_3C4D

    enum Option {
        static let end: UInt16 = 0
        static let comment: UInt16 = 1
        static let application: UInt16 = 4
        static let name: UInt16 = 2
        static let timeResolution: UInt16 = 9
        static let packetFlags: UInt16 = 2
    }

    /// The bytes that a capture begins with, in either byte order.
    package static let magic: [UInt8] = [0x0A, 0x0D, 0x0D, 0x0A]
}

/// Makes the bytes of a capture: one section, of which each port is an interface.
struct CaptureEncoder {
    private var interfaces: [String: UInt32] = [:]
    /// The difference between the time of a packet, in microseconds since 1970, and its instant.
    private let offset: Int64

    /// - Parameter time: when the capture begins. The times of its packets count from the time of day at this moment, and never go
    ///   back.
    init(at time: HostTime) { offset = time.unixMilliseconds * 1000 - time.instant.microseconds }

    func start() -> [UInt8] {
        var body = CaptureBytes()
        body.append(CaptureFormat.byteOrderMagic)
        body.append(UInt16(1))
        body.append(UInt16(0))
        body.append(UInt64.max)
        body.append(CaptureFormat.Option.comment, Array("The bytes of collar radios' ports, positions included".utf8))
        body.append(CaptureFormat.Option.application, Array("collar-link".utf8))
        body.endOptions()
        return body.block(CaptureFormat.Block.section)
    }

    /// The bytes of a record, and before them those of its port's interface, if the port is new.
    mutating func encode(_ record: CaptureRecord) -> [UInt8] {
        var bytes: [UInt8] = []
        let interface: UInt32
        if let known = interfaces[record.port] {
            interface = known
        } else {
            interface = UInt32(interfaces.count)
            interfaces[record.port] = interface
            bytes = CaptureEncoder.interface(named: record.port)
        }
        let (code, content) = record.event.encoded
        let count = UInt32(CaptureFormat.headerByteCount + content.count)
        let time = UInt64(bitPattern: record.time.instant.microseconds &+ offset)
        var body = CaptureBytes()
        for value in [interface, UInt32(time >> 32), UInt32(truncatingIfNeeded: time), count, count] { body.append(value) }
        body.bytes += [CaptureFormat.version, code.rawValue, UInt8(record.round >> 8), UInt8(truncatingIfNeeded: record.round)]
        for shift in stride(from: 56, through: 0, by: -8) {
            body.bytes.append(UInt8(truncatingIfNeeded: record.time.unixMilliseconds >> Int64(shift)))
        }
        body.bytes += content
        body.pad()
        if code == .read || code == .wrote {
            var flags = CaptureBytes()
            // Bytes that came in, or went out.
            flags.append(UInt32(code == .read ? 1 : 2))
            body.append(CaptureFormat.Option.packetFlags, flags.bytes)
            body.endOptions()
        }
        return bytes + body.block(CaptureFormat.Block.packet)
    }

    private static func interface(named name: String) -> [UInt8] {
        var body = CaptureBytes()
        body.append(CaptureFormat.linkType)
        body.append(UInt16(0))
        body.append(UInt32(0))
        body.append(CaptureFormat.Option.name, Array(name.utf8))
        // Microseconds.
        body.append(CaptureFormat.Option.timeResolution, [6])
        body.endOptions()
        return body.block(CaptureFormat.Block.interface)
    }
}

/// Bytes of a block, in the byte order that most machines have: least significant byte first.
struct CaptureBytes {
    var bytes: [UInt8] = []

    mutating func append(_ value: some FixedWidthInteger & UnsignedInteger) {
        for shift in stride(from: 0, to: value.bitWidth, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    mutating func append(_ option: UInt16, _ value: [UInt8]) {
        append(option)
        append(UInt16(min(value.count, Int(UInt16.max))))
        bytes += value.prefix(Int(UInt16.max))
        pad()
    }

    mutating func endOptions() { append(UInt32(CaptureFormat.Option.end)) }

    mutating func pad() { while !bytes.count.isMultiple(of: 4) { bytes.append(0) } }

    /// The block of a type with these bytes as its body.
    func block(_ type: UInt32) -> [UInt8] {
        var block = CaptureBytes()
        let count = UInt32(bytes.count + CaptureFormat.blockOverhead)
        block.append(type)
        block.append(count)
        block.bytes += bytes
        block.append(count)
        return block.bytes
    }
}
