import CollarWire

extension Samples {
    /// Opens sealed absolute fixes in bare frames, and decodes them to fixes.
    var open: Benchmark {
        let bytes = (0..<16).map { UInt8($0) }
        let keys = SealingKeys(CollarKey(bytes.span), deviceID: log.deviceID)
        let frames = sealedFixes(keys)
        var clear = [UInt8]()
        clear.reserveCapacity(Frame.maximumByteCount)
        return benchmark("open", bytes: frames.reduce(0) { $0 + $1.count }) {
            var total = 0
            for (index, frame) in frames.enumerated() {
                clear.removeAll(keepingCapacity: true)
                do throws(DecodeError) {
                    let header = try FrameHeader(ofAny: frame.span)
                    let number = FrameNumber(bootCount: 1, counter: UInt32(index))
                    var isOpen = false
                    clear.append(addingCapacity: Frame.maximumByteCount) { output in
                        isOpen = SealedFrame.open(
                            frame.span, header: header, type: .absoluteFix, number: number,
                            binding: .sequence(fixes[index].sequence), log: log, keys: keys, into: &output)
                    }
                    guard isOpen else { continue }
                    let fix = try AbsoluteFix.decode(
                        clear.span, header: try FrameHeader(clear.span), reference: fixes[index].sequence)
                    total &+= Int(fix.latitudeSteps)
                } catch { continue }
            }
            return total
        }
    }

    private func sealedFixes(_ keys: SealingKeys) -> [[UInt8]] {
        fixes.enumerated().map { index, fix in
            [UInt8](capacity: Frame.maximumByteCount) { output in
                do throws(EncodeError) {
                    try AbsoluteFix.encode(
                        fix, address: 1, flags: FrameFlags(poll: nil), log: log, reference: fix.sequence, into: &output)
                } catch { return }
                SealedFrame.seal(
                    &output, number: FrameNumber(bootCount: 1, counter: UInt32(index)), isLong: false,
                    binding: .sequence(fix.sequence), log: log, keys: keys)
            }
        }
    }
}
