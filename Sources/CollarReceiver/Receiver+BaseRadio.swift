import CollarARQ
import CollarJournal
import CollarWire

extension Receiver {
    /// Takes in one bare frame as it comes from a port. One with fixes waits for its signal report where the base radio
    /// makes such reports: until the next frame, or a short time.
    func arrived(_ frame: Span<UInt8>, onPort index: Int) {
        let port = ports[index]
        let signal = port.held.signal(in: frame)
        releaseHeldFrame(ofPort: index, signal: signal)
        guard port.held.isReporting, mayHoldFixes(frame) else {
            received(frame, at: Reception(port: index))
            return
        }
        port.held.hold(frame, now: now, turnaroundMicroseconds: port.turnaroundMicroseconds)
    }

    /// Takes in the frame that waits for its report.
    func releaseHeldFrame(ofPort index: Int, signal: JournaledSignal? = nil) {
        let port = ports[index]
        guard port.held.deadline != nil else { return }
        port.held.release(isReported: signal != nil)
        let bytes = port.held.bytes
        received(bytes.span, at: Reception(port: index, signal: signal))
    }

    private func mayHoldFixes(_ frame: Span<UInt8>) -> Bool {
        do throws(DecodeError) {
            switch try FrameHeader(frame).type {
            case .absoluteFix, .liveFix, .batch: return true
            default: return false
            }
        } catch { return false }
    }

    /// What the base radio says of itself; a change is reported, at most once a minute.
    func received(_ radio: RadioIdentity, onPort index: Int) {
        let port = ports[index]
        port.held.radioSpoke()
        guard port.radioIdentity != radio else { return }
        port.radioIdentity = radio
        if port.notices.isDue(.radio, at: now) { report(.radio(path: port.path, radio)) }
    }

    /// How the base radio's modem is set; a change is reported, at most once a minute.
    func received(_ settings: ModemSettings, onPort index: Int) {
        let port = ports[index]
        port.held.radioSpoke()
        guard port.modemSettings != settings else { return }
        port.modemSettings = settings
        if port.notices.isDue(.modem, at: now) { report(.modem(path: port.path, settings)) }
    }
}
