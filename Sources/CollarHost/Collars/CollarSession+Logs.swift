import CollarARQ
import CollarWire

/// Which log of the collar a frame belongs to.
extension CollarSession {
    func sender(of frame: Span<UInt8>, trials: inout LogTrials) -> (log: LogSession, reference: UInt32)? {
        logs.sender(of: frame, trials: &trials)
    }

    func sender(ofCurrent frame: Span<UInt8>) -> (log: LogSession, reference: UInt32)? { logs.sender(ofCurrent: frame) }

    func liveFix(of frame: Span<UInt8>, header: FrameHeader, trials: inout LogTrials) -> (fix: Fix, log: LogSession)? {
        logs.liveFix(of: frame, header: header, trials: &trials)
    }

    func log(tag: UInt32) -> LogSession? { logs.log(tag: tag) }

    func log(id: UInt32) -> LogSession? { logs.log(id: id) }

    func bindings(of frame: Span<UInt8>, type: MessageType, log: LogSession) -> [SealedBinding] {
        logs.bindings(of: frame, type: type, log: log)
    }
}
