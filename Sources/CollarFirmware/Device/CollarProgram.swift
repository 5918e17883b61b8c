import CollarARQ
import CollarWire

/// The program of a collar: moves bytes between a ``CollarBoard`` and a ``CollarDevice``, and decides nothing.
///
///     CollarProgram.run(on: Board(), configuration: configuration)
public struct CollarProgram<Board: CollarBoard & ~Copyable>: ~Copyable {
    /// The time between two attempts to start on a flash that fails, in microseconds.
    public static var retryMicroseconds: Int64 { 1_000_000 }
    /// The time between two readings of the battery, in microseconds; and in the first minute, because a gauge may not know it at once.
    private static var batteryMicroseconds: Int64 { 60_000_000 }
    private static var firstBatteryMicroseconds: Int64 { 10_000_000 }
    /// A receiver may finish what it says after its supply is off, in microseconds.
    private static var fallSilentMicroseconds: Int64 { 5_000_000 }

    /// The hardware.
    public var board: Board
    /// The collar.
    public private(set) var device: CollarDevice<Board.Flash>
    private var receiver: GNSSReceiver<Board.GNSS>
    private var isSending = false
    private var isRadioReady = true
    /// The supply that the GNSS receiver has, and whether the board can switch it.
    private var supply = GNSSSupply.off
    private var isSupplySwitched = false
    private var supplyInstant = Instant(microseconds: 0)
    private var listeningEnd: Instant?
    /// The end of the sensing that the board was last told of.
    private var senseEnd = Instant(microseconds: 0)
    private var stepBegin: Instant?
    private var indication = Indication()
    private var batteryDue: Instant

    /// Starts a collar on a board. While the flash fails, it tries again once a second, because nothing may be sent before.
    @inline(never) public init(_ board: consuming Board, configuration: Collar<Board.Flash>.Configuration) {
        var board = board
        receiver = GNSSReceiver(settings: board.gnssSettings)
        let cause = board.takeResetCause()
        let randomLogID = board.randomWord()
        while true {
            let now = board.now()
            if let boot = try? Collar.Boot(mounting: board.takeFlash(), configuration, randomLogID: randomLogID) {
                device = CollarDevice(boot, configuration, cause: cause, sensesChannel: board.sensesChannel, now: now)
                batteryDue = now
                break
            }
            board.feedWatchdog()
            board.wait(until: now.advanced(byMicroseconds: min(Self.retryMicroseconds, board.longestWaitMicroseconds)))
        }
        self.board = board
    }

    /// Runs a collar until it must start again, and resets the board.
    public static func run(on board: consuming Board, configuration: Collar<Board.Flash>.Configuration) {
        var program = CollarProgram(board, configuration: configuration)
        var deadline = program.step()
        while !program.isResetDue {
            program.wait(until: deadline)
            deadline = program.step()
        }
        program.board.reset()
    }

    /// Sleeps until a deadline of ``step()``, and counts how long the processor was awake before.
    public mutating func wait(until deadline: Instant) {
        if let stepBegin { device.wasAwake(microseconds: board.now().microseconds(since: stepBegin)) }
        board.wait(until: deadline)
        stepBegin = board.now()
    }

    /// Whether the board must be reset now.
    public var isResetDue: Bool {
        mutating get { device.isResetDue(now: board.now()) && !isSending }
    }

    /// Does everything that is due.
    ///
    /// The device throws only failures of the flash. It reports them to the host and goes on.
    /// - Returns: when to call it again if the board has nothing to report before.
    @inline(never) public mutating func step() -> Instant {
        board.feedWatchdog()
        let now = board.now()
        readSensors(now: now)
        try? device.deadlineReached(now: now)
        serveReceiver(now: now)
        receiveFrames(now: now)
        serveCable(now: now)
        logMessages(now: now)
        if device.senseEnd != nil, board.isChannelBusy() { device.channelIsBusy(now: now) }
        sendFrame()
        showIndication(now: now)
        listen(now: now)
        var latest = min(batteryDue, now.advanced(byMicroseconds: board.longestWaitMicroseconds))
        if let deadline = receiver.nextDeadline { latest = min(latest, deadline) }
        // A frame that is due waits for the radio, which ends the wait of the board.
        return min(device.nextDeadline(now: now, isSending: isSending || !isRadioReady) ?? latest, latest)
    }

    @inline(never) private mutating func readSensors(now: Instant) {
        if now >= batteryDue {
            let isYoung = now.microseconds(since: device.bootInstant) < Self.batteryMicroseconds
            batteryDue = now.advanced(byMicroseconds: isYoung ? Self.firstBatteryMicroseconds : Self.batteryMicroseconds)
            device.batteryRead(board.readBattery(), now: now)
        }
        try? device.buttonRead(isPressed: board.isButtonPressed(), now: now)
        device.motionRead(isMoving: board.takeMotion(), now: now)
    }

    /// Tells the board until when the radio must receive, and when it must look for packets of others.
    private mutating func listen(now: Instant) {
        if let end = device.senseEnd, end != senseEnd {
            senseEnd = end
            board.senseChannel(until: end)
        }
        let end = isSending ? nil : device.listeningEnd(now: now)
        guard end != listeningEnd else { return }
        listeningEnd = end
        board.listen(until: end)
    }

    /// Moves bytes between the GNSS receiver of the board and its state machine, and switches it.
    @inline(never) private mutating func serveReceiver(now: Instant) {
        while true {
            let bytes = FrameBuffer { board.readGNSS(into: &$0) }
            if !bytes.bytes.isEmpty, supply != .on, isSupplySwitched,
                now > supplyInstant.advanced(byMicroseconds: Self.fallSilentMicroseconds)
            {
                device.gnssIgnoresSupply(now: now)
            }
            for index in bytes.bytes.indices {
                if let reading = receiver.receive(bytes.bytes[index], now: now) { _ = try? device.gnssRead(reading, now: now) }
            }
            if bytes.bytes.isEmpty { break }
        }
        if let reading = receiver.deadlineReached(now: now) { _ = try? device.gnssRead(reading, now: now) }
        if let count = receiver.satelliteCount { device.satellitesHeard(count: count, now: now) }
        // A reading can end a search, and so can too few satellites: the receiver is switched off at once.
        if device.gnssSupply == .on { receiver.switchOn(now: now) } else { receiver.switchOff(isPause: device.isGNSSWanted) }
        var settings = receiver.settings
        settings.intervalMilliseconds = device.readingIntervalMilliseconds
        settings.isPowerSaved = board.gnssSettings.isPowerSaved && device.savesReceiverPower
        receiver.change(to: settings, now: now)
        switchReceiver(now: now)
        while true {
            var isCommand = false
            let command = FrameBuffer { isCommand = receiver.nextCommand(now: now, into: &$0) }
            guard isCommand else { break }
            board.writeGNSS(command.bytes)
        }
        switchReceiver(now: now)
        device.gnssChanged(to: receiver.state, fault: receiver.fault, now: now)
    }

    /// Gives the GNSS receiver its supply. It keeps it until it has been told to rest.
    private mutating func switchReceiver(now: Instant) {
        let wanted = receiver.isPowered ? .on : device.gnssSupply == .on ? .backup : device.gnssSupply
        guard wanted != supply else { return }
        supply = wanted
        supplyInstant = now
        isSupplySwitched = board.setGNSS(wanted)
    }

    @inline(never) private mutating func receiveFrames(now: Instant) {
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

    @inline(never) private mutating func serveCable(now: Instant) {
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

    @inline(never) private mutating func logMessages(now: Instant) {
        while let message = board.nextMessage() {
            if let sequence = try? device.log(message, now: now) { board.messageLogged(as: sequence) }
        }
    }

    /// Sends the frames that are due, one after the other, as the radio becomes ready.
    @inline(never) private mutating func sendFrame() {
        while true {
            let state = board.radioState()
            isRadioReady = state == .ready
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

    private mutating func showIndication(now: Instant) {
        let wanted = device.indication(now: now)
        guard wanted != indication else { return }
        indication = wanted
        board.show(wanted)
    }
}

/// A frame in memory of fixed size.
struct FrameBuffer {
    private var storage = InlineArray<253, UInt8>(repeating: 0)
    private var count = 0

    /// Creates the frame that `write` appends to an empty output with room for the largest one.
    init(_ write: (inout OutputSpan<UInt8>) -> Void) {
        var count = 0
        storage = InlineArray { (output: inout OutputSpan<UInt8>) in
            write(&output)
            count = output.count
            while output.freeCapacity > 0 { output.append(0) }
        }
        self.count = count
    }

    var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        get { storage.span.extracting(0..<count) }
    }
}
