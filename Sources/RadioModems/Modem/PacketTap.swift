import CollarWire

/// Finds the packets in one direction of the line of a stick, for a listener that takes no part: no state of the stick is known
/// or needed.
package struct PacketTap: Sendable {
    private enum Line: Sendable {
        case serial(StreamDecoder)
        case kiss(KISSFrame.Decoder)
        case text(RUI3Line.Decoder)
    }

    package enum Finding: Sendable {
        /// A packet: a bare frame, intact or not.
        case packet([UInt8])
        /// Something between two delimiters of a serial line that is no frame.
        case rejected(StreamFault)
    }

    private var line: Line

    package init(_ dialect: Dialect) {
        line =
            switch dialect {
            case .serial: .serial(StreamDecoder())
            case .kiss, .rnode: .kiss(KISSFrame.Decoder())
            case .rui3: .text(RUI3Line.Decoder())
            }
    }

    package mutating func take(_ bytes: Span<UInt8>) -> [Finding] {
        var findings: [Finding] = []
        switch line {
        case .serial(var stream):
            var index = 0
            while let event = stream.next(in: bytes, at: &index) {
                switch event {
                case .frame:
                    let frame = stream.frame
                    findings.append(.packet(frame.indices.map { frame[$0] }))
                case .rejected(let fault): findings.append(.rejected(fault))
                }
            }
            line = .serial(stream)
        case .kiss(var decoder):
            for index in bytes.indices {
                guard let frame = decoder.take(bytes[index]), frame.type == MeshCoreCommand.data else { continue }
                findings.append(.packet(frame.data))
            }
            line = .kiss(decoder)
        case .text(var decoder):
            for index in bytes.indices {
                guard let text = decoder.take(bytes[index]) else { continue }
                switch RUI3Line(text) {
                case .packet(let packet, _, _): findings.append(.packet(packet))
                case .value(RUI3Line.sendingName, let digits):
                    if let packet = RUI3Line.bytes(hexadecimal: digits[...]) { findings.append(.packet(packet)) }
                default: continue
                }
            }
            line = .text(decoder)
        }
        return findings
    }
}
