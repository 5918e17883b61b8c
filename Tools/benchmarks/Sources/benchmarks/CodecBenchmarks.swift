import CollarBridge
import CollarDomain
import CollarWire
import Glibc

extension Samples {
    /// Serial bytes to fixes: delimiters, stuffing, header, check, fields.
    var decode: Benchmark {
        benchmark("decode", bytes: stream.count) {
            var total = 0
            eachFix { total &+= Int($0.sequence) &+ Int($0.latitudeSteps) }
            return total
        }
    }

    /// Fixes to serial bytes.
    var encode: Benchmark {
        let frame = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: Frame.maximumByteCount)
        let serial = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: Frame.maximumByteCount + 3)
        return benchmark("encode", bytes: stream.count) {
            var total = 0
            for fix in fixes {
                var bare = OutputSpan(buffer: frame, initializedCount: 0)
                do throws(EncodeError) {
                    try AbsoluteFix.encode(
                        fix, address: 1, flags: FrameFlags(ask: nil), log: log, reference: fix.sequence, into: &bare)
                } catch { continue }
                var line = OutputSpan(buffer: serial, initializedCount: 0)
                StreamEncoder.encode(bare.span, into: &line)
                total &+= line.count
            }
            return total
        }
    }

    /// Fixes to lines of JSON.
    var line: Benchmark {
        var writer = FixLineWriter()
        var lines: [UInt8] = []
        for fix in fixes { writer.append(received(fix), to: &lines) }
        let byteCount = lines.count
        return benchmark("line", bytes: byteCount) {
            var writer = writer
            var lines: [UInt8] = []
            lines.reserveCapacity(byteCount)
            for fix in fixes { writer.append(received(fix), to: &lines) }
            return lines.count
        }
    }

    /// Serial bytes to lines of JSON.
    var decodeToLine: Benchmark {
        let writer = FixLineWriter()
        return benchmark("frame to line", bytes: stream.count) {
            var writer = writer
            var lines: [UInt8] = []
            lines.reserveCapacity(fixes.count * 320)
            eachFix { writer.append(received($0), to: &lines) }
            return lines.count
        }
    }

    /// The baseline: the same bytes copied, a frame at a time.
    var copy: Benchmark {
        let byteCount = stream.count / fixes.count
        let target = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
        return benchmark("copy", bytes: stream.count) {
            var total = 0
            stream.withUnsafeBytes { source in
                guard let from = source.baseAddress, let to = target.baseAddress else { return }
                var start = 0
                while start + byteCount <= source.count {
                    // The length comes through a call, or the compiler would see that only the last copy counts.
                    memcpy(to, from + start, opaque(byteCount))
                    total &+= Int(target[3])
                    start += byteCount
                }
            }
            return total
        }
    }

    private func eachFix(_ body: (Fix) -> Void) {
        var decoder = StreamDecoder()
        var index = 0
        var reference: UInt32 = 0
        while let event = decoder.next(in: stream.span, at: &index) {
            guard event == .frame else { continue }
            do throws(DecodeError) {
                let fix = try AbsoluteFix.decode(decoder.frame, log: log, reference: reference)
                reference = fix.sequence
                body(fix)
            } catch { continue }
        }
    }

    func benchmark(_ name: String, bytes: Int, _ round: @escaping () -> Int) -> Benchmark {
        Benchmark(
            name: name, bytesPerElement: Double(bytes) / Double(fixes.count), elementCount: fixes.count, round: round)
    }
}

@inline(never)
private func opaque(_ value: Int) -> Int { value }
