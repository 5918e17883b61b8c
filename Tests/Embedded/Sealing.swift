import CollarWire

/// Checks the known answers of Ascon on a microcontroller, and counts them.
struct SealingChecks {
    private(set) var count: UInt32 = 0

    /// Checks a known answer of Ascon-AEAD128: key, nonce, plaintext, associated data, ciphertext with its tag.
    /// - Returns: whether sealing gives the answer, and opening undoes it.
    mutating func agreesWithKnownSealing(_ table: inout Table) -> Bool {
        count &+= 1
        let key = Words128(table.bytes().span)
        let nonce = Words128(table.bytes().span)
        let plain = table.bytes()
        let data = table.bytes()
        let answer = table.bytes()
        var text = OutputSpan(buffer: room(plain.count), initializedCount: 0)
        for index in plain.indices { text.append(plain[index]) }
        var bytes = text.mutableSpan
        var cipher = AsconAEAD128(key: key, nonce: nonce)
        cipher.absorb(data.span, from: 0, to: data.count)
        let tag = cipher.seal(&bytes, from: 0)
        guard isEqual(bytes.span, answer.span.extracting(0..<plain.count)) else { return false }
        let sent = Words128(answer.span, from: plain.count)
        guard tag.low == sent.low, tag.high == sent.high else { return false }
        var opening = AsconAEAD128(key: key, nonce: nonce)
        opening.absorb(data.span, from: 0, to: data.count)
        let opened = opening.open(&bytes, from: 0)
        return isEqual(bytes.span, plain.span) && opened.isEqual(to: sent, byteCount: 8)
    }

    /// Checks a known answer of Ascon-CXOF128: customization, message, output.
    mutating func agreesWithKnownHash(_ table: inout Table) -> Bool {
        count &+= 1
        let customization = table.bytes()
        let message = table.bytes()
        let answer = table.bytes()
        var hash = AsconCXOF128(customization: customization.span)
        hash.absorb(message.span, from: 0, to: message.count)
        hash.end()
        var index = 0
        while index < answer.count {
            if hash.next() != Words128(answer.span, from: index, byteCount: 8).low { return false }
            index &+= 8
        }
        return true
    }
}

/// A sealed vector of the table.
struct SealedVector {
    let name: TableBytes
    let bare: TableBytes
    /// Empty if the frame must not open.
    let clear: TableBytes
    private let keys: SealingKeys
    private let log: LogIdentity?
    private let number: FrameNumber
    private let binding: SealedBinding
    private let receiverID: UInt32
    private let poll: PollNumber?

    init(_ table: inout Table) {
        name = table.bytes()
        bare = table.bytes()
        clear = table.bytes()
        let key = CollarKey(table.bytes().span)
        let deviceID = DeviceID(rawValue: table.wideWord())
        keys = SealingKeys(key, deviceID: deviceID)
        log = LogIdentity(deviceID: deviceID, logID: LogID(lowBitsOf: table.word()))
        let bootCount = table.word()
        number = FrameNumber(bootCount: bootCount, counter: table.word())
        receiverID = table.word()
        poll = PollNumber(rawValue: table.byte())
        switch table.byte() {
        case 1: binding = .sequence(table.word())
        case 2: binding = .anchor(table.fix())
        default: binding = .none
        }
    }

    /// The first mismatch that is found; nil if every frame opens as expected.
    func fault() -> StaticString? {
        guard let log, let header = try? FrameHeader(ofAny: bare.span), let type = header.type else { return "it has no header" }
        var opened = OutputSpan(buffer: room(Frame.maximumByteCount), initializedCount: 0)
        let isOpen: Bool
        if type == .identity {
            let found = SealedFrame.openIdentity(
                bare.span, header: header, deviceID: log.deviceID, keys: keys, into: &opened)
            isOpen = found == number
        } else if type.isFromCollar {
            isOpen = SealedFrame.open(
                bare.span, header: header, type: type, number: number, binding: binding, log: log, keys: keys, into: &opened)
        } else {
            isOpen = SealedHostFrame.open(
                bare.span, header: header, type: type, poll: number, pollNumber: poll, receiverID: receiverID, log: log,
                keys: keys, into: &opened)
        }
        guard clear.count > 0 else { return isOpen ? "it opens" : nil }
        guard isOpen else { return "it does not open" }
        guard isEqual(opened.span, clear.span) else { return "it opens to another frame" }
        // The frame that was opened is sealed again in its place.
        if type.isFromCollar {
            SealedFrame.seal(
                &opened, number: number, isLong: type != .identity && header.flags.rawValue & 0x10 != 0, binding: binding,
                log: log, keys: keys)
        } else {
            SealedHostFrame.seal(
                &opened, poll: number, index: header.flags.rawValue & 7, receiverID: sender, log: log, keys: keys)
        }
        return isEqual(opened.span, bare.span) ? nil : "it is sealed differently"
    }

    /// The receiver that sends the frame: the one that the frame names, or that of the collar.
    private var sender: UInt32 {
        let type = MessageType(rawValue: bare[0] & 0x1F)
        guard type == .acknowledgement || type == .command || type == .hostMessage else { return receiverID }
        var value: UInt32 = 0
        for index in 4..<8 { value = value &<< 8 | UInt32(bare[index]) }
        return value
    }
}
