import CollarWire

extension Message {
    /// Appends the bare frame, with the encoder of the message. Of a batch what does not fit is left out.
    func encode(
        address: UInt8, flags: FrameFlags, log: LogIdentity, reference: UInt32?,
        into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        switch self {
        case .identity(let identity):
            try identity.encode(address: address, flags: flags, into: &output)
        case .fix(let fix):
            try AbsoluteFix.encode(
                fix, address: address, flags: flags, log: log, reference: reference, into: &output)
        case .batch(let batch):
            let fixes = batch.fixes
            var index = 0
            _ = try Batch.encode(fixes[0], address: address, flags: flags, log: log, into: &output) {
                index += 1
                return index < fixes.count ? fixes[index] : nil
            }
        case .probe(let probe):
            try probe.encode(address: address, flags: flags, into: &output)
        case .tombstone(let tombstone):
            try tombstone.encode(address: address, flags: flags, log: log, into: &output)
        case .status(let status):
            try status.encode(address: address, flags: flags, log: log, into: &output)
        case .settings(let settings):
            try settings.encode(address: address, flags: flags, log: log, into: &output)
        case .settingsRequest(let request):
            try request.encode(address: address, log: log, into: &output)
        case .command(let command):
            try command.encode(address: address, log: log, into: &output)
        case .commandResult(let result):
            try result.encode(address: address, flags: flags, log: log, into: &output)
        case .application(let message):
            try message.encode(address: address, flags: flags, log: log, into: &output)
        case .radioIdentity(let identity): try identity.encode(into: &output)
        case .modemSettings(let settings): try settings.encode(into: &output)
        case .signalReport(let report): try report.encode(into: &output)
        case .acknowledgement(let acknowledgement):
            try acknowledgement.encode(address: address, log: log, into: &output)
        case .identityRequest(let request):
            try request.encode(address: address, into: &output)
        }
    }
}
