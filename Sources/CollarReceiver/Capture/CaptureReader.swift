import CheckedNumbers
import CollarARQ
import CollarJournal

/// Why the bytes of a capture cannot be read further.
package struct CaptureError: Error, Equatable, Sendable {
    package enum Problem: Equatable, Sendable {
        case notACapture
        case blockLength(UInt32)
        /// A block is too short for what it must contain.
        case shortBlock(type: UInt32)
        case unknownInterface(UInt32)
        /// The times of an interface have a resolution that cannot be used.
        case timeResolution(UInt8)
        /// A record has a version that this program does not know.
        case version(UInt8)
        /// A record's content is not that of its event.
        case content(event: UInt8)
        /// The bytes end inside a block, as after a power cut.
        case cut
    }

    package var problem: Problem
    /// The offset of the block in the file, in bytes.
    package var offset: Int
    /// The kind of the file, which is no capture; nil if it is not known.
    package var kind: FileKind?
}

/// Reads the records of a capture, in either byte order, as `Protocol/CAPTURE.md` describes them. Packets of other link types and
/// events that are not known are skipped.
package struct CaptureReader {
    private struct Interface {
        var isOurs: Bool
        var name: String
        /// Units of its times in a second.
        var unitsPerSecond: UInt64
    }

    private var bytes: [UInt8] = []
    private var position = 0
    private var removedCount = 0
    private var isSwapped = false
    private var interfaces: [Interface] = []
    /// The offset of the end of the last whole block.
    package private(set) var endOfBlocks = 0
    /// The offset of the block of the last record.
    package private(set) var recordOffset = 0
    package private(set) var recordCount = 0
    /// The latest instant so far: the instants of a capture never go back, also where a clock did.
    private var latest = Instant(microseconds: 0)

    package init() {}

    package mutating func append(_ more: [UInt8]) {
        bytes.removeFirst(position)
        removedCount += position
        position = 0
        bytes += more
    }

    /// The next record; nil if more bytes are needed for it.
    package mutating func next() throws(CaptureError) -> CaptureRecord? {
        while let block = try nextBlock() {
            switch block.type {
            case CaptureFormat.Block.section: interfaces = []
            case CaptureFormat.Block.interface: try addInterface(block)
            case CaptureFormat.Block.packet:
                guard let record = try record(in: block) else { continue }
                recordCount += 1
                recordOffset = block.offset
                return record
            default: continue
            }
        }
        return nil
    }

    /// Call it after the last bytes.
    /// - Throws: ``CaptureError/Problem/cut`` if they end inside a block, ``CaptureError/Problem/notACapture`` if there were none.
    package func finish() throws(CaptureError) {
        guard endOfBlocks > 0 else { throw CaptureError(problem: .notACapture, offset: 0) }
        if position < bytes.count { throw CaptureError(problem: .cut, offset: endOfBlocks) }
    }

    // MARK: Blocks

    private struct Block {
        var type: UInt32
        var offset: Int
        /// The place of its body in `bytes`.
        var body: Range<Int>

        func fault(_ problem: CaptureError.Problem) -> CaptureError { CaptureError(problem: problem, offset: offset) }
    }

    private mutating func nextBlock() throws(CaptureError) -> Block? {
        guard bytes.count - position >= CaptureFormat.blockOverhead else { return nil }
        let offset = removedCount + position
        var type = number(at: position, UInt32.self)
        if offset == 0 || bytes[position..<(position + 4)].elementsEqual(CaptureFormat.magic) {
            guard bytes[position..<(position + 4)].elementsEqual(CaptureFormat.magic), setByteOrder() else {
                throw CaptureError(problem: .notACapture, offset: offset, kind: offset == 0 ? FileKind(startingWith: bytes) : nil)
            }
            type = CaptureFormat.Block.section
        }
        let count = number(at: position + 4, UInt32.self)
        guard count >= 12, count.isMultiple(of: 4), count <= CaptureFormat.blockByteLimit else {
            throw CaptureError(problem: .blockLength(count), offset: offset)
        }
        guard bytes.count - position >= Int(count) else { return nil }
        let end = position + Int(count)
        guard number(at: end - 4, UInt32.self) == count else { throw CaptureError(problem: .blockLength(count), offset: offset) }
        let block = Block(type: type, offset: offset, body: (position + 8)..<(end - 4))
        position = end
        endOfBlocks = removedCount + end
        return block
    }

    /// - Returns: false if the magic number is wrong.
    private mutating func setByteOrder() -> Bool {
        isSwapped = false
        if number(at: position + 8, UInt32.self) == CaptureFormat.byteOrderMagic { return true }
        isSwapped = true
        return number(at: position + 8, UInt32.self) == CaptureFormat.byteOrderMagic
    }

    private func number<Value: FixedWidthInteger>(at index: Int, _ type: Value.Type) -> Value {
        var value: Value = 0
        for byte in 0..<(Value.bitWidth / 8) {
            let shift = 8 * (isSwapped ? Value.bitWidth / 8 - 1 - byte : byte)
            value |= Value(truncatingIfNeeded: bytes[index + byte]) << Value(shift)
        }
        return value
    }

    // MARK: Interfaces and records

    private mutating func addInterface(_ block: Block) throws(CaptureError) {
        guard block.body.count >= 8 else { throw block.fault(.shortBlock(type: block.type)) }
        var interface = Interface(
            isOurs: number(at: block.body.lowerBound, UInt16.self) == CaptureFormat.linkType, name: "port \(interfaces.count)",
            unitsPerSecond: 1_000_000)
        var index = block.body.lowerBound + 8
        while index + 4 <= block.body.upperBound {
            let code = number(at: index, UInt16.self)
            let count = Int(number(at: index + 2, UInt16.self))
            let value = (index + 4)..<(index + 4 + count)
            guard code != CaptureFormat.Option.end, value.upperBound <= block.body.upperBound else { break }
            if code == CaptureFormat.Option.name { interface.name = String(decoding: bytes[value], as: UTF8.self) }
            if code == CaptureFormat.Option.timeResolution, let resolution = bytes[value].first {
                guard let units = CaptureReader.unitsPerSecond(resolution) else { throw block.fault(.timeResolution(resolution)) }
                interface.unitsPerSecond = units
            }
            index = (value.upperBound + 3) & ~3
        }
        interfaces.append(interface)
    }

    /// Reads the option for the resolution of times: a negative power of 10, or of 2 if its highest bit is set.
    private static func unitsPerSecond(_ resolution: UInt8) -> UInt64? {
        if resolution & 0x80 != 0 { return resolution & 0x7F < 63 ? 1 << UInt64(resolution & 0x7F) : nil }
        return resolution <= 18 ? (0..<resolution).reduce(1) { units, _ in units * 10 } : nil
    }

    private mutating func record(in block: Block) throws(CaptureError) -> CaptureRecord? {
        let start = block.body.lowerBound
        guard block.body.count >= 20 else { throw block.fault(.shortBlock(type: block.type)) }
        let number = number(at: start, UInt32.self)
        guard number < interfaces.count else { throw block.fault(.unknownInterface(number)) }
        let interface = interfaces[Int(number)]
        guard interface.isOurs else { return nil }
        let units = UInt64(self.number(at: start + 4, UInt32.self)) << 32 | UInt64(self.number(at: start + 8, UInt32.self))
        let count = Int(self.number(at: start + 12, UInt32.self))
        guard count >= CaptureFormat.headerByteCount, count <= block.body.count - 20 else {
            throw block.fault(.shortBlock(type: block.type))
        }
        let data = bytes[(start + 20)..<(start + 20 + count)]
        guard data[start + 20] == CaptureFormat.version else { throw block.fault(.version(data[start + 20])) }
        guard let code = CaptureEvent.Code(rawValue: data[start + 21]) else { return nil }
        var unixMilliseconds: UInt64 = 0
        for byte in data[(start + 24)..<(start + 32)] { unixMilliseconds = unixMilliseconds << 8 | UInt64(byte) }
        let fault = block.fault(.content(event: code.rawValue))
        let timeOfDay = Int64(bitPattern: unixMilliseconds)
        guard let instant = CaptureReader.instant(units, perSecond: interface.unitsPerSecond),
            ClosedRange.unixMilliseconds.contains(timeOfDay)
        else { throw fault }
        let event: CaptureEvent
        do throws(CaptureFields.Fault) { event = try CaptureEvent(code, content: Array(data[(start + 32)...])) } catch { throw fault }
        latest = max(latest, instant)
        return CaptureRecord(
            time: HostTime(instant: latest, unixMilliseconds: timeOfDay),
            round: UInt16(data[start + 22]) << 8 | UInt16(data[start + 23]), port: interface.name, event: event)
    }

    /// - Returns: nil for an instant that is too late for arithmetic with it.
    private static func instant(_ units: UInt64, perSecond: UInt64) -> Instant? {
        let (seconds, rest) = units.quotientAndRemainder(dividingBy: perSecond)
        guard seconds < ClosedRange.exactNumbers.upperBound / 1_000_000 else { return nil }
        let fraction = perSecond.dividingFullWidth(rest.multipliedFullWidth(by: 1_000_000)).quotient
        return Instant(microseconds: Int64(seconds * 1_000_000 + fraction))
    }
}
