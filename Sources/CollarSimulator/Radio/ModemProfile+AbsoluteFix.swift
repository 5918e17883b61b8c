import CollarARQ
import CollarWire

extension ModemProfile {
    /// Airtime of a fix in an absolute frame of its own, in microseconds.
    package func airtimeMicroseconds(absolute fix: Fix, log: LogIdentity) -> Int64 {
        let frame = [UInt8](capacity: Frame.maximumByteCount) { output in
            do throws(EncodeError) {
                try AbsoluteFix.encode(
                    fix, address: 9, flags: FrameFlags(poll: nil), log: log, reference: fix.sequence, into: &output)
            } catch { preconditionFailure("a logged fix fits a frame: \(error)") }
        }
        return airtimeMicroseconds(frameByteCount: frame.count)
    }
}
