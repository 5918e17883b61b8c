import CollarARQ
import CollarSimulator
import CollarWire

/// What the host of a ``DutyCycleTrial`` wants of the collar: reports, settings, commands, reboots among them.
struct DutyCycleRequests {
    private let log: LogIdentity
    private let meanSeconds: Int64?
    private var queue = RequestQueue(receiverID: TrialHost.receiverID, lastRequestID: 0)
    private var nextRequest = Instant(microseconds: 0)
    private var version: UInt64 = 0

    /// - Parameter meanSeconds: between two requests; nil for none.
    init(log: LogIdentity, meanSeconds: Int64?) {
        self.log = log
        self.meanSeconds = meanSeconds
    }

    /// A frame of the collar arrived.
    mutating func take(_ frame: [UInt8]) {
        do throws(DecodeError) {
            switch try FrameHeader(frame.span).type {
            case .commandResult: _ = queue.received(try CommandResult(decoding: frame.span))
            case .settingsReport: _ = queue.received(try Settings(decoding: frame.span, direction: .report))
            default: break
            }
        } catch { preconditionFailure("nothing damages a frame here: \(error)") }
    }

    /// The frames that go out in a window that begins now.
    mutating func ofWindow(now: Instant, random: inout SeededRandom) -> [[UInt8]] {
        guard let meanSeconds else { return [] }
        while queue.expire(now: now) != nil {}
        if now >= nextRequest {
            nextRequest = now.advanced(byMicroseconds: Int64(random.next() % UInt64(2_000_000 * meanSeconds)))
            _ = queue.add(chosen(by: &random), deadline: now.advanced(byMicroseconds: 1_800_000_000))
        }
        queue.beginWindow()
        var frames: [[UInt8]] = []
        while let frame = nextOfWindow() { frames.append(frame) }
        return frames
    }

    private mutating func nextOfWindow() -> [UInt8]? {
        var isFrame = false
        let frame = [UInt8](capacity: Frame.maximumByteCount) { output in
            do throws(EncodeError) {
                isFrame = try queue.nextOfWindow(address: 9, log: log, into: &output) != nil
            } catch { preconditionFailure("a request fits a frame: \(error)") }
        }
        return isFrame ? frame : nil
    }

    private mutating func chosen(by random: inout SeededRandom) -> HostRequest {
        switch random.next() % 8 {
        case 0: return .command(.reboot)
        case 1: return .command(.locateNow)
        case 2: return .command(.sound(milliseconds: 500))
        case 3: return .command(.startTracking)
        case 4, 5:
            version += 1
            var settings = SettingList()
            // The shortest heartbeat makes the most frames.
            settings.append(Setting(key: SettingKey.heartbeatSeconds.rawValue, value: 5 + UInt32(random.next() % 56)))
            return .order(version: version, settings)
        default: return .report
        }
    }
}
