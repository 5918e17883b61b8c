import CollarARQ
import CollarWire

/// The program of a collar: moves bytes between a ``CollarBoard`` and a ``CollarDevice``, and decides nothing.
///
///     CollarProgram.run(on: Board(), configuration: configuration)
public struct CollarProgram<Board: CollarBoard & ~Copyable>: ~Copyable {
    /// The longest time between two calls of ``CollarBoard/feedWatchdog()``, in microseconds.
    public static var longestWaitMicroseconds: Int64 { 1_000_000 }
    /// Time between two readings of the battery, in microseconds.
    private static var batteryMicroseconds: Int64 { 10_000_000 }

    /// The hardware.
    public var board: Board
    /// The collar.
    public private(set) var device: CollarDevice<Board.Flash>
    private var isSending = false
    private var isGNSSOn = false
    private var indication = Indication()
    private var batteryDue: Instant

    /// Starts a collar on a board. While the flash fails, it tries again once a second, because nothing may be sent before.
    public init(_ board: consuming Board, configuration: Collar<Board.Flash>.Configuration) {
        var board = board
        let cause = board.takeResetCause()
        let randomLogID = board.randomWord()
        while true {
            let now = board.now()
            if let device = try? CollarDevice(
                starting: configuration, flash: board.takeFlash(), cause: cause, randomLogID: randomLogID, now: now)
            {
                self.device = device
                batteryDue = now
                break
            }
            board.feedWatchdog()
            board.wait(until: now.advanced(byMicroseconds: Self.longestWaitMicroseconds))
        }
        self.board = board
    }

    /// Runs a collar until it must start again, and resets the board.
    public static func run(on board: consuming Board, configuration: Collar<Board.Flash>.Configuration) {
        var program = CollarProgram(board, configuration: configuration)
        var deadline = program.step()
        while !program.isResetDue {
            program.board.wait(until: deadline)
            deadline = program.step()
        }
        program.board.reset()
    }

    /// Whether the board is to be reset now.
    public var isResetDue: Bool {
        mutating get { device.isResetDue(now: board.now()) && !isSending }
    }

    /// Does everything that is due.
    ///
    /// What the device throws is a failure of the flash. The device reports it to the host, and goes on.
    /// - Returns: when to call it again if the board has nothing to report before.
    public mutating func step() -> Instant {
        board.feedWatchdog()
        let now = board.now()
        readSensors(now: now)
        try? device.deadlineReached(now: now)
        receiveFrames(now: now)
        serveCable(now: now)
        logMessages(now: now)
        sendFrame()
        control(now: now)
        let latest = min(batteryDue, now.advanced(byMicroseconds: Self.longestWaitMicroseconds))
        return min(device.nextDeadline(now: now, isSending: isSending) ?? latest, latest)
    }

    private mutating func readSensors(now: Instant) {
        if now >= batteryDue {
            batteryDue = now.advanced(byMicroseconds: Self.batteryMicroseconds)
            device.batteryRead(board.readBattery(), now: now)
        }
        try? device.buttonRead(isPressed: board.isButtonPressed(), now: now)
    }

    private mutating func receiveFrames(now: Instant) {
        while true {
            var isFrame = false
            let frame = FrameBuffer { isFrame = board.nextFrame(into: &$0) }
            guard isFrame else { return }
            if case .message(let message) = try? device.receive(frame.bytes, now: now) {
                let outcome = board.take(message)
                try? device.finish(requestID: message.requestID, outcome: outcome, now: now)
            }
        }
    }

    private mutating func serveCable(now: Instant) {
        while true {
            var isFrame = false
            let frame = FrameBuffer { isFrame = board.nextCableFrame(into: &$0) }
            guard isFrame else { return }
            let key = randomKey()
            guard let isAnswered = try? device.receiveFromCable(frame.bytes, randomKey: key, now: now), isAnswered else { continue }
            let answer = FrameBuffer { isFrame = (try? device.nextCableFrame(into: &$0, now: now)) ?? false }
            if isFrame { board.sendOnCable(answer.bytes) }
        }
    }

    private mutating func randomKey() -> CollarKey {
        var word: UInt32 = 0
        let bytes = InlineArray<16, UInt8> { index in
            word = index % 4 == 0 ? board.randomWord() : word &>> 8
            return UInt8(truncatingIfNeeded: word)
        }
        return CollarKey(bytes.span)
    }

    private mutating func logMessages(now: Instant) {
        while let message = board.nextMessage() {
            if let sequence = try? device.log(message, now: now) { board.messageLogged(as: sequence) }
        }
    }

    /// Sends the frames that are due, one after the other, as the radio becomes ready.
    private mutating func sendFrame() {
        while true {
            let state = board.radioState()
            let now = board.now()
            device.radioChanged(isFaulty: state == .failed, now: now)
            guard state != .sending else { return }
            if isSending {
                isSending = false
                device.frameSent(now: now)
            }
            guard state == .ready else { return }
            let frame = FrameBuffer { isSending = (try? device.nextFrame(now: now, into: &$0)) ?? false }
            guard isSending else { return }
            board.send(frame.bytes)
        }
    }

    /// Sets what the device wants of the hardware.
    private mutating func control(now: Instant) {
        if device.isGNSSWanted != isGNSSOn {
            isGNSSOn = device.isGNSSWanted
            board.switchGNSS(isOn: isGNSSOn)
        }
        let wanted = device.indication(now: now)
        if wanted != indication {
            indication = wanted
            board.show(wanted)
        }
    }
}
