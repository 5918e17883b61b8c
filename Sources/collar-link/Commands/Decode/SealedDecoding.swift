import CollarARQ
import CollarWire

/// Opens the sealed frames of one collar in a capture.
struct SealedDecoding {
    private let deviceID: UInt64
    private let keys: SealingKeys
    /// The log that the last identity named, and the numbers of the frames since; nil before an identity.
    private var boot: (log: LogIdentity, window: ReplayWindow)?

    init(_ key: CollarKey, deviceID: UInt64) {
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
                let number = SealedFrame.openIdentity(
                    frame, header: header, deviceID: deviceID, keys: keys, into: &output)
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
