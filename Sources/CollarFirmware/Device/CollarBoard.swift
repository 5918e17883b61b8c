import CollarARQ
import CollarWire

/// The hardware of a collar, and the application that its maker adds. ``CollarProgram`` calls it and decides everything else.
///
/// No method waits, except ``wait(until:)`` and, for at most the duration of one frame, ``send(_:)``. A collar without a button,
/// sounder, light, cable, battery gauge or application leaves out those methods.
public protocol CollarBoard: ~Copyable {
    /// The flash that holds the log, the settings and the key.
    associatedtype Flash: FlashDevice
    /// The parser for the protocol of the GNSS receiver: ``UBXParser``, ``NMEAParser`` or ``UBXOrNMEAParser``.
    associatedtype GNSS: GNSSDialect

    // MARK: Time and power

    /// The time since any origin that stays the same until the next reset. It never goes back.
    mutating func now() -> Instant

    /// Sleeps until `deadline`, or until a byte, a packet, the radio's state, the button, the accelerometer or the application needs
    /// attention. It may return early.
    mutating func wait(until deadline: Instant)

    /// The longest time that ``wait(until:)`` may be asked to sleep, in microseconds, at least 100,000: less than the time after which
    /// the watchdog resets the board.
    var longestWaitMicroseconds: Int64 { get }

    /// Tells the watchdog that the program runs. It is called at least every ``longestWaitMicroseconds``.
    mutating func feedWatchdog()

    /// 32 bits that nobody can predict: keys are made of them.
    mutating func randomWord() -> UInt32

    /// The cause of the last reset, together with what the fault handler left in retained memory; see ``CrashRecord``. It is
    /// asked for once, after the reset.
    mutating func takeResetCause() -> ResetCause

    /// Resets the microcontroller. It does not return, except where a board is simulated.
    mutating func reset()

    // MARK: Flash

    /// Access to the flash. It is asked for once, after the reset.
    mutating func takeFlash() -> Flash

    // MARK: Radio

    /// Appends the next bare frame that the radio has received to the empty `frame`, which has room for the largest one.
    /// - Returns: false if there is none.
    mutating func nextFrame(into frame: inout OutputSpan<UInt8>) -> Bool

    /// Begins to send a bare frame.
    mutating func send(_ frame: Span<UInt8>)

    /// Until when the radio must receive; nil if it may sleep at once. A packet that has begun by then must be received to its end. The
    /// method is called when the time changes, and after each frame that was sent. A board whose radio always receives, as on a serial
    /// line, does nothing.
    mutating func listen(until deadline: Instant?)

    /// The state of the radio. A frame is sent only in the state ``RadioState/ready``.
    mutating func radioState() -> RadioState

    /// Whether the radio can notice that another one sends on its channel, as LoRa chips do by their channel activity detection. The
    /// identity of the collar tells it.
    var sensesChannel: Bool { get }

    /// Begins to look for packets of other radios, until `deadline`. Two detections of some symbols suffice: one at once, and one that
    /// ends at the deadline. Called only if ``sensesChannel`` is true.
    mutating func senseChannel(until deadline: Instant)

    /// Whether a packet was noticed since ``senseChannel(until:)``; the radio need not look any more then.
    mutating func isChannelBusy() -> Bool

    // MARK: GNSS receiver

    /// How the GNSS receiver is to work. The interval between its readings is set by the battery and the settings of the collar.
    var gnssSettings: GNSSSettings { get }

    /// Appends bytes from the GNSS receiver, as many as there are and `bytes` has room for.
    mutating func readGNSS(into bytes: inout OutputSpan<UInt8>)

    /// Sends bytes to the GNSS receiver.
    mutating func writeGNSS(_ bytes: Span<UInt8>)

    /// Switches the supply of the GNSS receiver, which is off after a reset. A board without a backup supply switches that off.
    /// - Returns: whether the receiver has that supply now; false on a board that cannot switch it.
    mutating func setGNSS(_ supply: GNSSSupply) -> Bool

    // MARK: Sensors and signals

    /// Reads the battery and the temperature.
    mutating func readBattery() -> BatteryReading

    /// Whether the accelerometer has noticed that the animal moves, since the last call; nil without an accelerometer. A threshold
    /// and a duration in the sensor keep short movements of a sleeping animal away.
    mutating func takeMotion() -> Bool?

    /// Whether the button is pressed at this moment, without its bouncing.
    mutating func isButtonPressed() -> Bool

    /// Switches the light and the sounder.
    mutating func show(_ indication: Indication)

    // MARK: Cable

    /// As ``nextFrame(into:)``, for the cable over which keys are exchanged.
    mutating func nextCableFrame(into frame: inout OutputSpan<UInt8>) -> Bool

    /// Sends a bare frame on the cable.
    mutating func sendOnCable(_ frame: Span<UInt8>)

    // MARK: Application

    /// Gives the application a message of the host.
    /// - Returns: whether the application has it; the host gets this outcome.
    mutating func take(_ message: HostMessage) -> CommandResult.Outcome

    /// The next message that the application wants to send; nil if there is none. It is durable when ``messageLogged(as:)`` is
    /// called. If it cannot be logged, it is lost.
    mutating func nextMessage() -> ApplicationMessage?

    /// Notes that the message of ``nextMessage()`` is durable.
    /// - Parameter sequence: its sequence, which a reply of the host names.
    mutating func messageLogged(as sequence: UInt32)
}

/// Defaults for hardware that a board does not have.
extension CollarBoard where Self: ~Copyable {
    /// A board without a watchdog.
    public mutating func feedWatchdog() {}
    /// A board without a watchdog sleeps for an hour at most.
    public var longestWaitMicroseconds: Int64 { 3_600_000_000 }
    /// A board whose radio always receives.
    public mutating func listen(until deadline: Instant?) {}
    /// A board whose radio does not sense the channel.
    public var sensesChannel: Bool { false }
    /// A board whose radio does not sense the channel.
    public mutating func senseChannel(until deadline: Instant) {}
    /// A board whose radio does not sense the channel.
    public mutating func isChannelBusy() -> Bool { false }
    /// A board on which the supply of the GNSS receiver cannot be switched.
    public mutating func setGNSS(_ supply: GNSSSupply) -> Bool { false }
    /// A board without an accelerometer.
    public mutating func takeMotion() -> Bool? { nil }
    /// A board without a battery gauge.
    public mutating func readBattery() -> BatteryReading { BatteryReading() }
    /// A board without a button.
    public mutating func isButtonPressed() -> Bool { false }
    /// A board without light and sounder.
    public mutating func show(_ indication: Indication) {}
    /// A board without a cable.
    public mutating func nextCableFrame(into frame: inout OutputSpan<UInt8>) -> Bool { false }
    /// A board without a cable.
    public mutating func sendOnCable(_ frame: Span<UInt8>) {}
    /// A board without an application. Its configuration leaves out the capability of messages.
    public mutating func take(_ message: HostMessage) -> CommandResult.Outcome { .unsupported }
    /// A board without an application.
    public mutating func nextMessage() -> ApplicationMessage? { nil }
    /// A board without an application.
    public mutating func messageLogged(as sequence: UInt32) {}
}

/// The state of a collar's radio.
public enum RadioState: Equatable, Sendable {
    /// The radio can send a frame; an earlier one has been sent.
    case ready
    /// The radio is sending.
    case sending
    /// The radio does not answer, or could not send the last frame.
    case failed
}

/// The state of the battery at one moment. Values that the board cannot measure are nil.
public struct BatteryReading: Equatable, Sendable {
    /// Charge, 0 … 100 percent.
    public var percent: UInt8?
    /// Voltage in millivolts, 0 … 8190.
    public var millivolts: UInt16?
    /// Temperature, −127 … 127 °C.
    public var celsius: Int8?

    /// Creates a reading.
    public init(percent: UInt8? = nil, millivolts: UInt16? = nil, celsius: Int8? = nil) {
        self.percent = percent
        self.millivolts = millivolts
        self.celsius = celsius
    }
}

/// Whether the light and the sounder of a collar are on.
public struct Indication: Equatable, Sendable {
    /// Whether the light is on.
    public var isLit = false
    /// Whether the sounder sounds.
    public var isSounding = false

    /// Creates an indication.
    public init(isLit: Bool = false, isSounding: Bool = false) {
        self.isLit = isLit
        self.isSounding = isSounding
    }
}

/// Why a collar started.
public enum ResetCause: Equatable, Sendable {
    /// The supply voltage came on.
    case powerOn
    /// The supply voltage was too low.
    case lowVoltage
    /// The watchdog ended a program that hung.
    case watchdog
    /// The program met a fault.
    case fault(CrashRecord)
    /// The program reset itself: a command, or a new key.
    case program
    /// The reset pin, or a debugger.
    case external

    /// The last error that a status reports after this start (PROTOCOL.md, section 13).
    var fault: CollarFault {
        switch self {
        case .powerOn, .program, .external: .none
        case .lowVoltage: .lowVoltageReset
        case .watchdog: .watchdogReset
        case .fault(let record): record.isWatchdog ? .watchdogReset : .firmwareReset
        }
    }
}

/// The record that a fault handler leaves in memory that a reset does not clear, so that the next start can report it.
///
/// The handler stores ``words`` and resets. The next start reads them back, and then overwrites them with zeros.
public struct CrashRecord: Equatable, Sendable {
    /// Whether the handler was that of a watchdog, which warns before it resets.
    public var isWatchdog: Bool
    /// The address of the instruction at which the program ended.
    public var programCounter: UInt32

    /// Creates a record.
    public init(isWatchdog: Bool = false, programCounter: UInt32) {
        self.isWatchdog = isWatchdog
        self.programCounter = programCounter
    }

    private static var mark: UInt32 { 0x4352_5348 }

    /// The three words to keep. The last one is a check, because memory holds chance values after power comes on.
    public var words: InlineArray<3, UInt32> {
        let first = CrashRecord.mark ^ (isWatchdog ? 1 : 0)
        return [first, programCounter, ~(first &+ programCounter)]
    }

    /// Reads a record back; nil if there is none.
    public init?(words: InlineArray<3, UInt32>) {
        guard words[0] | 1 == CrashRecord.mark | 1, words[2] == ~(words[0] &+ words[1]) else { return nil }
        isWatchdog = words[0] != CrashRecord.mark
        programCounter = words[1]
    }
}

/// A serial line of a board, byte by byte.
public protocol SerialPort: ~Copyable {
    /// The next byte that has come in; nil if there is none.
    mutating func read() -> UInt8?
    /// Sends a byte. It may wait until the hardware has room for it.
    mutating func write(_ byte: UInt8)
}

/// Bare frames on a serial line, as section 4 of PROTOCOL.md describes them: for the cable, and for a radio that is one.
public struct SerialFrames: Sendable {
    private var decoder = StreamDecoder()

    /// Creates the state of a line from which nothing was read yet.
    public init() {}

    /// Appends the next frame from `port` to the empty `frame`, which has room for the largest one. Bytes that are no frame
    /// are dropped.
    /// - Returns: false if no byte is left before a frame is complete.
    public mutating func next<Port: SerialPort & ~Copyable>(from port: inout Port, into frame: inout OutputSpan<UInt8>) -> Bool {
        while let byte = port.read() {
            let bytes: InlineArray<1, UInt8> = [byte]
            var index = 0
            guard decoder.next(in: bytes.span, at: &index) == .frame else { continue }
            let found = decoder.frame
            for index in found.indices { frame.append(found[index]) }
            return true
        }
        return false
    }

    /// Sends a bare frame of 1 … 253 bytes.
    public static func send<Port: SerialPort & ~Copyable>(_ frame: Span<UInt8>, on port: inout Port) {
        let bytes = InlineArray<256, UInt8> { (output: inout OutputSpan<UInt8>) in
            StreamEncoder.encode(frame, into: &output)
            while output.freeCapacity > 0 { output.append(StreamEncoder.delimiter) }
        }
        for index in 0..<StreamEncoder.encodedByteCount(for: frame.count) { port.write(bytes[index]) }
    }
}
