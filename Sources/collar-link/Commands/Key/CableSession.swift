import CollarARQ
import CollarFormats
import CollarHost
import CollarJournal
import CollarPorts
import CollarWire
import Glibc
import LinuxSystem
import SerialDevices

/// An exchange of keys with the collar at a cable, for `collar-link key exchange`.
struct CableSession {
    private let path: String
    /// The open cable; nil while it is unplugged.
    private var port: SerialPort?
    private let files: KeyFiles
    private var exchange: KeyExchange
    private var stream = StreamDecoder()
    private var outbound: [UInt8] = []
    private var reportedStage: KeyExchange.Stage?

    init(port path: String, files: KeyFiles) throws(CommandFailure) {
        do throws(SerialPortError) { port = try SerialPort(opening: path) } catch { throw CommandFailure(error.message) }
        self.path = path
        self.files = files
        var keys: [DeviceID: KeyFiles.Entry] = [:]
        for deviceID in try CommandFailure.wrapping(try files.deviceIDs()) ?? [] {
            do throws(CommandFailure) { keys[deviceID] = try CommandFailure.wrapping(try files.entry(of: deviceID)) } catch {
                // The collar at the cable may be another one.
                StandardError.say(error.message, remedy: error.remedy)
            }
        }
        exchange = KeyExchange(keys: keys, receiverID: UInt32.random(in: 1 ... .max), now: CableSession.now)
    }

    private static var now: Instant { Instant(microseconds: MonotonicClock.microseconds) }

    /// - Returns: the collar that has a new key.
    mutating func run() throws(CommandFailure) -> DeviceID {
        while true {
            switch exchange.stage {
            case .findingCollar, .requesting: break
            case .storing(let deviceID, let key):
                try keepPending(key, of: deviceID)
                exchange.pendingKeyStored(now: CableSession.now)
                continue
            case .activating(let deviceID, let key):
                // The key must be stored before each activation, whatever other programs do to the file.
                try keepPending(key, of: deviceID)
            case .finished(let deviceID, let key):
                try files.change { files throws(JournalError) in
                    var entry = try files.entry(of: deviceID) ?? KeyFiles.Entry(key: nil)
                    entry.activate(key)
                    try files.store(entry, of: deviceID)
                }
                return deviceID
            case .failed(let failure): throw CommandFailure(failure, port: path)
            }
            while let frame = exchange.nextFrame(now: CableSession.now) { outbound.append(frame: frame) }
            // A person must know what a frame asks for before it is sent.
            reportStage()
            try transfer()
        }
    }

    private func keepPending(_ key: CollarKey, of deviceID: DeviceID) throws(CommandFailure) {
        try files.change { files throws(JournalError) in
            var entry = try files.entry(of: deviceID) ?? KeyFiles.Entry(key: nil)
            guard entry.key != key, !entry.pendingKeys.contains(key) else { return }
            entry.addPending(key)
            try files.store(entry, of: deviceID)
        }
    }

    /// Writes what waits, waits for bytes or for the next deadline, and reads.
    private mutating func transfer() throws(CommandFailure) {
        guard let port else { return reopen() }
        while !outbound.isEmpty, case .written(let count) = port.write(outbound.span) { outbound.removeFirst(count) }
        guard let deadline = exchange.nextDeadline else { return }
        let wait = max(0, deadline.microseconds(since: CableSession.now) + 999) / 1000
        let events = Int16(POLLIN) | (outbound.isEmpty ? 0 : Int16(POLLOUT))
        var descriptors = [pollfd(fd: port.fileDescriptor, events: events, revents: 0)]
        _ = unsafe poll(&descriptors, 1, Int32(clamping: wait))
        var buffer = [UInt8](repeating: 0, count: 1024)
        while true {
            switch port.read(into: &buffer) {
            case .bytes(let count):
                let bytes = Array(buffer[..<count])
                var index = 0
                while let event = stream.next(in: bytes.span, at: &index) {
                    if case .frame = event { exchange.receive(stream.frame, now: CableSession.now) }
                }
            case .wouldBlock: return
            case .disconnected: return try unplugged()
            }
        }
    }

    /// The cable is gone. The USB port of a collar vanishes while the collar is switched off and on, and when it starts with its
    /// new key: the exchange then goes on when it is back.
    private mutating func unplugged() throws(CommandFailure) {
        if case .findingCollar = exchange.stage {
            throw CommandFailure(.noDevice, "The cable at \(path) was unplugged.", remedy: "Plug it in, and run the command again.")
        }
        StandardError.say("The cable at \(path) was unplugged; the exchange is waiting for it.")
        port = nil
        outbound = []
        stream = StreamDecoder()
    }

    private mutating func reopen() {
        usleep(100_000)
        outbound = []
        // Until the end of the stage, an opening that fails is tried again.
        do throws(SerialPortError) { port = try SerialPort(opening: path) } catch {}
    }

    private mutating func reportStage() {
        guard exchange.stage != reportedStage else { return }
        reportedStage = exchange.stage
        switch exchange.stage {
        case .findingCollar: StandardError.say("The exchange is looking for a collar at \(path).")
        case .requesting(.proven(let deviceID, _)):
            StandardError.say("Press the button of \(collarName(deviceID)) twice, or switch the collar off and on, for a new key.")
        case .requesting(.first(let deviceID)):
            StandardError.say(
                "Press the button of \(collarName(deviceID)) twice, or switch the collar off and on, for its first key; "
                    + "what it has recorded and not delivered is then given up.")
        case .requesting(.foreign):
            StandardError.say(
                "The collar at \(path) does not answer, or has a key that is not stored here. Switch it on, or press its button twice "
                    + "for a new key; what it has recorded and not delivered is then given up.")
        case .storing, .finished, .failed: break
        case .activating(let deviceID, _):
            StandardError.say("\(collarSubject(deviceID)) offers a key; the exchange is waiting for it to take the key over.")
        }
    }
}

extension CommandFailure {
    init(_ failure: KeyExchange.Failure, port: String) {
        switch failure {
        case .isRadio:
            self.init(
                .usage, "A radio is at \(port), and keys do not travel by radio.", remedy: "Name the port of the collar's cable.")
        case .keyedCollarInClear(let deviceID):
            self.init(
                .corruptInput,
                "\(collarSubject(deviceID)) at \(port) says that it does not have the key that is stored here: its memory was erased, or somebody "
                    + "tries to pass for it.",
                remedy: "If its memory was erased: `collar-link key remove \(deviceID)`, and then run the command again.")
        case .noOffer:
            self.init(
                .noDevice, "No collar at \(port) has offered a key.",
                remedy: "Check the cable, run the command again, and press the collar's button within two minutes.")
        case .notConfirmed(let deviceID):
            self.init(
                .noDevice, "\(collarSubject(deviceID)) has not confirmed its new key.",
                remedy: "Run the command again; both keys are kept, so that the collar is not lost whichever it has.")
        }
    }
}
