import CollarFormats
import CollarLink
import CollarWire
import Glibc

extension Samples {
    /// Decodes serial bytes to fixes: delimiters, stuffing, header, CRC, fields.
    var decode: Benchmark {
        benchmark("decode", bytes: stream.count) {
            var total = 0
            eachFix { total &+= Int($0.sequence) &+ Int($0.latitudeSteps) }
            return total
        }
    }

    /// Encodes fixes to serial bytes.
    var encode: Benchmark {
        let frame = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: Frame.maximumByteCount)
        let serial = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: Frame.maximumByteCount + 3)
        return benchmark("encode", bytes: stream.count) {
            var total = 0
            for fix in fixes {
                var bare = OutputSpan(buffer: frame, initializedCount: 0)
                do throws(EncodeError) {
                    try AbsoluteFix.encode(
                        fix, address: 1, flags: FrameFlags(poll: nil), log: log, reference: fix.sequence, into: &bare)
                } catch { continue }
                var line = OutputSpan(buffer: serial, initializedCount: 0)
                StreamEncoder.encode(bare.span, into: &line)
                total &+= line.count
            }
            return total
        }
    }

    /// Decodes batches in bare frames to fixes: header, CRC, and each fix.
    var batchDecode: Benchmark {
        let batches = self.batches
        return benchmark("batch decode", bytes: batches.reduce(0) { $0 + $1.count }) {
            var total = 0
            for frame in batches {
                do throws(DecodeError) {
                    guard FrameCRC.isValid(frame.span, log: log) else { continue }
                    var decoder = try BatchDecoder(frame.span, header: try FrameHeader(frame.span))
                    while let fix = try decoder.next() { total &+= Int(fix.sequence) &+ Int(fix.latitudeSteps) }
                } catch { continue }
            }
            return total
        }
    }

    /// Encodes fixes to batches in bare frames.
    var batchEncode: Benchmark {
        let byteCount = batches.reduce(0) { $0 + $1.count }
        return benchmark("batch encode", bytes: byteCount) { batches.reduce(0) { $0 + $1.count } }
    }

    private var batches: [[UInt8]] {
        var frames: [[UInt8]] = []
        var start = 0
        while start < fixes.count {
            var count = 0
            do throws(EncodeError) {
                frames.append(
                    try [UInt8](capacity: Frame.maximumByteCount) { output throws(EncodeError) in
                        var index = start
                        count = try Batch.encode(
                            fixes[start], address: 1, flags: FrameFlags(poll: nil), log: log, into: &output
                        ) {
                            index += 1
                            return index < fixes.count ? fixes[index] : nil
                        }
                    })
            } catch { break }
            start += count
        }
        return frames
    }

    /// Writes fixes as lines of JSON.
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

    /// Decodes serial bytes, and writes the fixes as lines of JSON.
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

    /// The baseline: copies the same bytes, one frame at a time.
    var copy: Benchmark {
        let byteCount = stream.count / fixes.count
        let target = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
        return benchmark("copy", bytes: stream.count) {
            var total = 0
            stream.withUnsafeBytes { source in
                guard let from = source.baseAddress, let to = target.baseAddress else { return }
                var start = 0
                while start + byteCount <= source.count {
                    // The length comes from a call. Otherwise the compiler would see that only the last copy counts.
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
        var fix = Fix(sequence: 0, unixMilliseconds: 0, latitudeSteps: 0, longitudeSteps: 0)
        while true {
            if decoder.nextFix(in: stream.span, at: &index, log: log, reference: fix.sequence, into: &fix) {
                body(fix)
                continue
            }
            guard let event = decoder.next(in: stream.span, at: &index) else { return }
            guard event == .frame else { continue }
            do throws(DecodeError) {
                let message = try Message.decode(decoder.frame, log: log, reference: fix.sequence)
                guard case .fix(let next) = message else { continue }
                fix = next
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
