import CollarReceiver

extension ReceiverStatistics {
    /// The counts in one line.
    var text: String {
        "\(host.fixes) fixes stored, \(lines) lines written, \(host.duplicates) duplicates; frames: \(host.frames) used, "
            + "\(host.damagedFrames) damaged, \(host.unknownFrames) of unknown collars, \(host.unsupportedFrames) unsupported, "
            + "\(host.malformedFrames) malformed"
    }
}
