import CollarARQ
import CollarSimulator
import CollarWire

/// A stick on a bench: the test is the host and the air, in virtual time that begins at 0.
struct StickBench<Stick: BaseStick> {
    var stick: Stick
    private(set) var now = Instant(microseconds: 0)
    /// The bytes that arrived at the host since the test last took them, with the time of each piece.
    private(set) var pieces: [(time: Instant, bytes: [UInt8])] = []
    /// The packets that the stick has begun to send, oldest first.
    private(set) var transmissions: [(start: Instant, transmission: StickTransmission)] = []
    private(set) var transmissionEnd: Instant?

    init(_ stick: Stick) { self.stick = stick }

    /// The host writes bytes.
    mutating func write(_ hexadecimal: String) { write(bytes(hexadecimal)) }

    /// The host writes bytes.
    mutating func write(_ bytes: [UInt8]) {
        stick.receive(bytes, now: now)
        collect()
    }

    /// A packet ends on the air.
    mutating func hear(_ packet: [UInt8], dBm: Int16 = -100, tenthsDB: Int16 = 50) {
        stick.hear(packet, signal: RadioSignal(strengthDBm: dBm, signalToNoiseTenthsDB: tenthsDB), now: now)
    }

    /// A packet of another sender begins or ends.
    mutating func noteChannel(isBusy: Bool) {
        stick.noteChannel(isBusy: isBusy, now: now)
        collect()
    }

    mutating func cause(_ fault: StickFault) {
        stick.cause(fault, now: now)
        collect()
    }

    /// Lets time pass.
    mutating func run(milliseconds: Double) {
        let end = now.advanced(byMicroseconds: Int64(milliseconds * 1000))
        while true {
            let due = min(stick.nextDeadline, transmissionEnd ?? .never)
            guard due <= end else { break }
            now = max(now, due)
            if let over = transmissionEnd, over <= now {
                transmissionEnd = nil
                stick.transmissionEnded(now: now)
            }
            stick.advance(to: now)
            collect()
        }
        now = end
    }

    private mutating func collect() {
        if transmissionEnd == nil, let next = stick.nextTransmission(now: now) {
            transmissions.append((now, next))
            transmissionEnd = now.advanced(byMicroseconds: next.airtimeMicroseconds)
        }
        let bytes = stick.takeOutput(now: now)
        if !bytes.isEmpty { pieces.append((now, bytes)) }
    }

    /// Removes and returns the bytes that have arrived at the host.
    mutating func takeBytes() -> [UInt8] {
        defer { pieces = [] }
        return pieces.flatMap(\.bytes)
    }

    /// What the stick says within a time after the host wrote bytes, in hexadecimal digits.
    mutating func answer(to hexadecimal: String, milliseconds: Double = 20) -> String {
        write(hexadecimal)
        run(milliseconds: milliseconds)
        return digits(takeBytes())
    }

    /// What the stick says within a time after the host wrote a line.
    mutating func answer(toLine line: String, milliseconds: Double = 20) -> String {
        write(Array("\(line)\r\n".utf8))
        run(milliseconds: milliseconds)
        return String(decoding: takeBytes(), as: UTF8.self)
    }

    /// The time from `start` to now, in milliseconds.
    func milliseconds(since start: Instant) -> Double { Double(now.microseconds(since: start)) / 1000 }
}

/// The bytes of hexadecimal digits in pairs with spaces between them.
func bytes(_ hexadecimal: String) -> [UInt8] { hexadecimal.split(separator: " ").compactMap { UInt8($0, radix: 16) } }

/// Hexadecimal digits in pairs with spaces between them.
func digits(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
        let text = String(byte, radix: 16, uppercase: true)
        return text.count == 1 ? "0" + text : text
    }.joined(separator: " ")
}
