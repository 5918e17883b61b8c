import CollarARQ
import CollarFormats
import CollarReceiver
import CollarWire

/// Decodes frames one after the other, and keeps what later frames need: the known logs, and the fixes that can be
/// anchors of live fixes.
struct FrameDecoding {
    private struct KnownLog {
        let identity: LogIdentity
        /// The references for completing short sequences: the highest sequence of a fix, and the newest sequence that the
        /// last identity or probe named.
        var references: InlineArray<2, UInt32> = [0, 0]
        var fixes: [UInt32: Fix] = [:]
        /// Whether a verified frame has revealed a sequence of the log.
        var isHeard = false

        mutating func note(_ fix: Fix) {
            isHeard = true
            references[0] = max(references[0], fix.sequence)
            fixes[fix.sequence] = fix
            if fix.sequence >= FrameDecoding.anchorLimit { fixes[fix.sequence - FrameDecoding.anchorLimit] = nil }
        }
    }

    /// A message, the log that the message is bound to, and whether the frame's CRC confirms the message's sequence.
    private struct Decoded {
        var message: Message
        var log: LogIdentity?
        var isVerified = true
    }

    /// When a fix is decoded, the fix whose sequence is lower by this number is forgotten. The anchor of a live fix is at
    /// most 127 sequences lower.
    private static let anchorLimit: UInt32 = 65_536
    /// The most logs that are kept for an address. Each costs time for every frame of the address that fits none of them.
    private static let logLimit = 16

    private let format: OutputFormat
    private var formatter: EntryFormatter
    private var output: [UInt8] = []
    /// The logs that were named at an address, the newest first. The key nil has those that options name, for frames of any address.
    private var logs: [UInt8?: [KnownLog]] = [:]
    private var sealed: SealedDecoding?
    private var rejected: [String: Int] = [:]
    private(set) var frameCount = 0
    /// The number of decoded frames whose sequence was solved from the CRC.
    private(set) var unverifiedCount = 0

    init(_ options: FormatOptions) {
        format = options.format
        formatter = EntryFormatter(options)
        if format != .text { formatter.begin(into: &output) }
    }

    /// Adds a log at the front of the known logs, or moves a known log there, because the front log is tried first.
    /// - Parameters:
    ///   - address: the address of the collar; nil for a log whose frames may come from any.
    ///   - nextSequence: the log's next sequence, as an identity or a probe gave it; nil where none did.
    mutating func learn(_ log: LogIdentity, at address: UInt8? = nil, nextSequence: UInt32?) {
        let place = place(of: log, at: address)
        let key = place?.key ?? address
        var list = logs[key] ?? []
        if let place { list.insert(list.remove(at: place.index), at: 0) } else { list.insert(KnownLog(identity: log), at: 0) }
        if list.count > FrameDecoding.logLimit { list.removeLast() }
        if let nextSequence {
            list[0].references[1] = max(nextSequence, 1) - 1
            list[0].isHeard = true
        }
        logs[key] = list
    }

    /// The place of a known log that sends from an address.
    private func place(of log: LogIdentity?, at address: UInt8?) -> (key: UInt8?, index: Int)? {
        for key in address == nil ? [nil] : [address, nil] {
            if let index = logs[key]?.firstIndex(where: { $0.identity == log }) { return (key, index) }
        }
        return nil
    }

    /// The known logs that send from an address, in the order in which they are tried.
    private func logs(at address: UInt8) -> [KnownLog] {
        let named = logs[address] ?? []
        return logs[nil].map { named + $0 } ?? named
    }

    mutating func open(with key: CollarKey, deviceID: DeviceID) { sealed = SealedDecoding(key, deviceID: deviceID) }

    mutating func decode(_ frame: Span<UInt8>, at place: FramePlace) {
        do throws(DecodeError) {
            let header = try FrameHeader(ofAny: frame)
            guard let type = header.type else { throw .unknownType(header.typeCode) }
            if header.flags.isSealed {
                let clear = try clearForm(of: frame, header: header, type: type)
                try decode(clear.span, header: try FrameHeader(clear.span), type: type, sealedByteCount: frame.count, at: place)
            } else if type.isBoundToLog, logs(at: header.address).isEmpty {
                reject(.identityMissing, at: place)
            } else {
                try decode(frame, header: header, type: type, sealedByteCount: nil, at: place)
            }
        } catch { reject(RejectionReason(error), at: place) }
    }

    /// - Parameter sealedByteCount: the size of the sealed frame of which `frame` is the clear form; nil if it came in clear.
    private mutating func decode(
        _ frame: Span<UInt8>, header: FrameHeader, type: MessageType, sealedByteCount: Int?, at place: FramePlace
    ) throws(DecodeError) {
        let decoded = try decode(frame, header: header, type: type)
        frameCount += 1
        if decoded.isVerified { note(decoded.message, log: decoded.log, at: header.address) } else { unverifiedCount += 1 }
        write(decoded, header: header, byteCount: sealedByteCount ?? frame.count, isSealed: sealedByteCount != nil, at: place)
    }

    private mutating func clearForm(
        of frame: Span<UInt8>, header: FrameHeader, type: MessageType
    ) throws(DecodeError) -> [UInt8] {
        let logs = logs(at: header.address)
        let clear = sealed?.clearForm(
            of: frame, header: header, type: type,
            references: { log in
                guard let known = logs.first(where: { $0.identity == log }) else { return [0] }
                return known.references.indices.map { known.references[$0] }
            },
            anchor: { log, sequence in logs.first { $0.identity == log }?.fixes[sequence] })
        guard let clear else { throw .sealed }
        return clear
    }

    /// The entries that the format has left out so far; nil if there are none.
    var omission: Omission? { formatter.omissions.total }

    mutating func flush() throws(CommandFailure) {
        try StandardOutput.write(output)
        output.removeAll(keepingCapacity: true)
    }

    mutating func finish() throws(CommandFailure) {
        if format != .text { formatter.end(into: &output) }
        try flush()
    }

    /// How many frames were skipped and why; nil if none was.
    var summaryOfRejected: String? {
        guard !rejected.isEmpty else { return nil }
        let parts = rejected.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        return "skipped: " + parts.joined(separator: ", ")
    }

    mutating func reject(_ reason: RejectionReason, at place: FramePlace) {
        rejected[reason.kind, default: 0] += 1
        guard format == .text else { return }
        append("\(place.text) skipped: \(reason.kind)\(reason.detail.map { " (\($0))" } ?? "")\n")
    }

    private func decode(_ frame: Span<UInt8>, header: FrameHeader, type: MessageType) throws(DecodeError) -> Decoded {
        guard type.isBoundToLog else { return Decoded(message: try Message.decode(frame, log: nil, reference: 0)) }
        let logs = logs(at: header.address)
        for log in logs {
            if type == .liveFix {
                guard let fix = liveFix(frame, header: header, log: log) else { continue }
                return Decoded(message: .fix(fix), log: log.identity)
            }
            let references = log.references
            let fitting = FrameCRC.reference(fitting: frame, log: log.identity) { position in
                position < references.count ? references[position] : nil
            }
            guard let reference = fitting else { continue }
            let message = try Message.decodePayload(of: frame, header: header, type: type, reference: reference)
            return Decoded(message: message, log: log.identity)
        }
        for log in logs where !log.isHeard {
            guard let sequence = FrameCRC.solvedSequence(of: frame, log: log.identity) else { continue }
            let message = try Message.decodePayload(of: frame, header: header, type: type, reference: sequence)
            return Decoded(message: message, log: log.identity, isVerified: false)
        }
        throw .crcMismatch
    }

    private func liveFix(_ frame: Span<UInt8>, header: FrameHeader, log: KnownLog) -> Fix? {
        for index in log.references.indices {
            guard let named = LiveFix.sequences(of: frame, header: header, reference: log.references[index]),
                let anchor = log.fixes[named.anchor]
            else { continue }
            do throws(DecodeError) {
                return try LiveFix.decode(frame, sequence: named.sequence, anchor: anchor, log: log.identity)
            } catch { continue }
        }
        return nil
    }

    private mutating func note(_ message: Message, log: LogIdentity?, at address: UInt8) {
        switch message {
        case .identity(let identity): learn(identity.log, at: address, nextSequence: identity.nextSequence)
        case .probe(let probe):
            guard let known = logs(at: address).first(where: { $0.identity.tag == probe.logTag }) else { return }
            learn(known.identity, at: address, nextSequence: probe.nextSequence)
        case .fix(let fix): note(fix, log: log, at: address)
        case .batch(let batch): batch.forEach { note($0, log: log, at: address) }
        default: break
        }
    }

    private mutating func note(_ fix: Fix, log: LogIdentity?, at address: UInt8) {
        guard let (key, index) = place(of: log, at: address) else { return }
        logs[key]?[index].note(fix)
    }

    private mutating func write(_ decoded: Decoded, header: FrameHeader, byteCount: Int, isSealed: Bool, at place: FramePlace) {
        if format != .text {
            guard let log = decoded.log else { return }
            switch decoded.message {
            case .fix(let fix): write(fix, log: log, at: place)
            case .batch(let batch): batch.forEach { write($0, log: log, at: place) }
            default: return
            }
        } else {
            let size = "\(byteCount) bytes\(isSealed ? ", sealed" : "")"
            append("\(place.text) \(size): \(MessageDescription.line(of: header))\n")
            for field in MessageDescription.fields(of: decoded.message) {
                let mark = field.name == "sequence" && !decoded.isVerified ? " (unverified)" : ""
                append("    \(field.name): \(field.value)\(mark)\n")
            }
        }
    }

    private mutating func write(_ fix: Fix, log: LogIdentity, at place: FramePlace) {
        let time = place.capture?.unixMilliseconds
        formatter.append(ReceivedFix(deviceID: log.deviceID, logID: log.logID, receivedUnixMilliseconds: time, fix: fix), to: &output)
    }

    private mutating func append(_ text: String) { output += Array(text.utf8) }
}

/// Opens the sealed frames of one collar in a capture.
struct SealedDecoding {
    private let deviceID: DeviceID
    private let keys: SealingKeys
    /// The log that the last identity named, and the numbers of the frames since; nil before an identity.
    private var boot: (log: LogIdentity, window: ReplayWindow)?

    init(_ key: CollarKey, deviceID: DeviceID) {
        self.deviceID = deviceID
        keys = SealingKeys(key, deviceID: deviceID)
    }

    /// The clear form of a frame; nil if it does not open.
    /// - Parameters:
    ///   - references: gives the sequences around which a short sequence, and below which that of an anchor, is completed.
    ///   - anchor: gives the fix with a sequence of a log; nil if it is not known.
    mutating func clearForm(
        of frame: Span<UInt8>, header: FrameHeader, type: MessageType, references: (LogIdentity) -> [UInt32],
        anchor: (LogIdentity, UInt32) -> Fix?
    ) -> [UInt8]? {
        var isOpen = false
        if type == .identity {
            let clear = [UInt8](capacity: Frame.maximumByteCount) { output in
                let number = SealedFrame.openIdentity(frame, header: header, deviceID: deviceID, keys: keys, into: &output)
                guard let number, let identity = try? Identity(decoding: output.span) else { return }
                isOpen = true
                boot = (identity.log, ReplayWindow(first: number))
            }
            return isOpen ? clear : nil
        }
        guard let (log, window) = boot, let number = window.number(of: frame) else { return nil }
        for binding in bindings(of: frame, type: type, references: references(log), anchor: { anchor(log, $0) }) {
            let clear = [UInt8](capacity: Frame.maximumByteCount) { output in
                isOpen = SealedFrame.open(
                    frame, header: header, type: type, number: number, binding: binding, log: log, keys: keys,
                    into: &output)
            }
            guard isOpen else { continue }
            boot?.window.note(number.counter)
            return clear
        }
        return nil
    }

    private func bindings(
        of frame: Span<UInt8>, type: MessageType, references: [UInt32], anchor: (UInt32) -> Fix?
    ) -> [SealedBinding] {
        switch type {
        case .absoluteFix:
            guard SealedFrame.hasShortSequence(frame) else { return [.sequence(0)] }
            var halves: [UInt32] = []
            for reference in references {
                let both = SealedFrame.upperHalves(around: reference)
                for index in both.indices where !halves.contains(both[index]) { halves.append(both[index]) }
            }
            return halves.map { .sequence($0 << 16) }
        case .liveFix:
            return references.compactMap { reference in
                SealedFrame.anchorSequence(of: frame, below: reference).flatMap(anchor).map { .anchor($0) }
            }
        default: return [.none]
        }
    }
}

struct FramePlace {
    /// The offset of the frame, or of the record of the capture in which it ends, in bytes.
    var offset: Int
    /// Nil if the input is no capture.
    var capture: Capture?

    struct Capture {
        var port: String
        var direction: CaptureFrames.Direction
        var unixMilliseconds: Int64
    }

    var text: String {
        guard let capture else { return "@\(offset)" }
        let time = utcText(unixMilliseconds: capture.unixMilliseconds)
        return "@\(offset) \(time) \(PlainText.line(capture.port)) \(capture.direction.rawValue)"
    }
}

/// Why a frame was skipped, in words for people.
struct RejectionReason {
    /// The kind of fault, by which skipped frames are counted.
    let kind: String
    /// The invalid value of this frame, or its place in the bare frame; nil if there is nothing to add.
    var detail: String?

    /// The frame is bound to a log, and no identity has named one yet: its CRC cannot be verified.
    static let identityMissing = RejectionReason(kind: "without an identity before it")

    private init(kind: String) { self.kind = kind }

    init(_ error: DecodeError) {
        switch error {
        case .tooShort(let count): (kind, detail) = ("too short", "\(count) bytes")
        case .tooLong(let count): (kind, detail) = ("too long", "\(count) bytes")
        case .unsupportedVersion(let version): (kind, detail) = ("of another version", "\(version)")
        case .unknownCriticalFlags(let flags): (kind, detail) = ("with unknown critical flags", "0x\(String(flags, radix: 16))")
        case .unknownType(let type): (kind, detail) = ("of unknown type", "\(type)")
        case .sealed: kind = "sealed, not verified"
        case .crcMismatch: kind = "with a wrong CRC"
        case .anchorNeeded: kind = "without its anchor"
        case .truncated(let bit): (kind, detail) = ("truncated", "at bit \(bit)")
        case .trailingBytes(let byte): (kind, detail) = ("with trailing bytes", "from byte \(byte) on")
        case .nonzeroPadding(let bit): (kind, detail) = ("with nonzero padding", "at bit \(bit)")
        case .invalidField(let field, let code): (kind, detail) = ("with an invalid field", "\(field.names.0), code \(code)")
        }
    }

    init(_ fault: StreamFault) {
        switch fault {
        case .brokenStuffing: kind = "with broken stuffing"
        case .tooLong: kind = "too long"
        case .tooShort: kind = "too short"
        }
    }
}
