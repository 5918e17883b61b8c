import CollarARQ
import CollarWire
import SerialDevices

extension Receiver {
    /// Times after which an opened port without a collar is worth a word, in microseconds.
    private static let sessionTimes: [Int64] = [1_000_000, 5_000_000]
    /// Times between tries to open a port that another program has, in microseconds.
    private static let retryTimes: [Int64] = [1_000_000, 4_000_000, 9_000_000]
    /// Least time between two questions to the unknown, in microseconds.
    private static let identityRequestInterval: Int64 = 1_000_000

    /// Opens the ports the user named, or looks for radios.
    func openPorts() throws(ReceiverError) {
        guard configuration.ports.isEmpty else {
            for path in configuration.ports {
                ports.append(RadioPort(path: path, isNamedByUser: true))
                try openNamed(ports.count - 1)
            }
            return
        }
        // The monitor listens before the list is made: nothing plugged in between is missed.
        let monitor: DeviceMonitor
        do throws(DeviceMonitorError) { monitor = try DeviceMonitor() } catch { throw .discovery(error) }
        self.monitor = monitor
        events.watch(monitor.fileDescriptor, token: Token.monitor)
        for device in monitor.collarRadios() { appeared(device) }
        if !ports.contains(where: { $0.serialPort != nil }) {
            if !configuration.reconnects { throw .noDevice("no collar radio is plugged in") }
            if ports.isEmpty { report(.waitingForRadio(others: monitor.allSerialDevices())) }
        }
    }

    /// Takes in what udev has to say.
    func handleDeviceEvents() {
        while let event = monitor?.receive() {
            switch event {
            case .added(let device), .changed(let device):
                guard device.isCollarRadio else { continue }
                appeared(device)
            case .removed(let node, _):
                guard let index = ports.firstIndex(where: { $0.path == node }) else { continue }
                closed(index)
                ports[index].state = .gone
            case .eventsLost:
                for device in monitor?.collarRadios() ?? [] { appeared(device) }
            }
        }
    }

    private func appeared(_ device: SerialDevice) {
        let index: Int
        if let known = ports.firstIndex(where: { $0.path == device.node }) {
            index = known
            if ports[index].serialPort != nil { return }
        } else {
            ports.append(RadioPort(path: device.node, isNamedByUser: false))
            index = ports.count - 1
        }
        open(index)
    }

    /// Tries to open a port, and arranges for what may make the next try worth while.
    private func open(_ index: Int, attempt: Int = 0) {
        let port = ports[index]
        stopWaiting(port)
        do throws(SerialPortError) {
            opened(port, index: index, serial: try SerialPort(opening: port.path))
        } catch {
            arrangeRetry(index, after: error, attempt: attempt)
        }
    }

    /// The first try at a port the user named: what stands there and cannot be used is the user's to mend, and said at
    /// once. What is not there is waited for.
    private func openNamed(_ index: Int) throws(ReceiverError) {
        let port = ports[index]
        do throws(SerialPortError) {
            opened(port, index: index, serial: try SerialPort(opening: port.path))
        } catch {
            guard configuration.reconnects else { throw .port(error) }
            switch error {
            case .notFound, .disconnected: arrangeRetry(index, after: error, attempt: 1)
            case .busy, .permissionDenied, .notATerminal, .system: throw .port(error)
            }
        }
    }

    private func opened(_ port: RadioPort, index: Int, serial: SerialPort) {
        port.state = .open(serial)
        port.begin()
        port.sessionDeadlines = Receiver.sessionTimes.map { now.advanced(byMicroseconds: $0) }
        events.watch(serial.fileDescriptor, token: UInt64(index))
        report(.opened(path: port.path))
        resumeHealth(ofPort: index, answerWithinMicroseconds: Receiver.sessionTimes[Receiver.sessionTimes.count - 1])
        askForIdentity(onPort: index, address: Frame.broadcastAddress)
    }

    private func arrangeRetry(_ index: Int, after error: SerialPortError, attempt: Int) {
        let port = ports[index]
        if case .permissionDenied = error, attempt == 0 {
            // udev sets the access list of a new node up to 0.3 s after creating it: no word about that yet.
            port.state = .retrying(at: now.advanced(byMicroseconds: 300_000), attempt: 1)
            return
        }
        if case .busy = error {
            complain(port, error)
            let delay = Receiver.retryTimes[min(attempt, Receiver.retryTimes.count - 1)]
            port.state = .retrying(at: now.advanced(byMicroseconds: delay), attempt: attempt + 1)
            return
        }
        watch(index, attempt: attempt)
        complain(port, error)
    }

    private func complain(_ port: RadioPort, _ error: SerialPortError) {
        guard port.serialPort == nil, port.lastComplaint != error else { return }
        port.lastComplaint = error
        if case .notFound = error {
            if port.isNamedByUser { report(.waitingForPort(path: port.path)) }
        } else {
            report(.cannotOpen(error))
        }
    }

    /// Waits for a change at the path. What changed before the watch began would go unnoticed: so one more try.
    private func watch(_ index: Int, attempt: Int) {
        let port = ports[index]
        do throws(PathWatcherError) {
            let watcher = try PathWatcher(path: port.path)
            do throws(SerialPortError) {
                opened(port, index: index, serial: try SerialPort(opening: port.path))
            } catch {
                port.state = .waiting(watcher)
                events.watch(watcher.fileDescriptor, token: UInt64(index))
            }
        } catch {
            let delay = Receiver.retryTimes[Receiver.retryTimes.count - 1]
            port.state = .retrying(at: now.advanced(byMicroseconds: delay), attempt: attempt + 1)
        }
    }

    private func stopWaiting(_ port: RadioPort) {
        if case .waiting(let watcher) = port.state { events.forget(watcher.fileDescriptor) }
        port.state = .gone
    }

    /// A port has something to say.
    func handlePort(_ index: Int, _ event: EventPoll.Event) throws(ReceiverError) {
        let port = ports[index]
        switch port.state {
        case .open(let serial):
            if event.isReadable { try read(index, serial) }
            if event.isWritable, port.serialPort != nil { flush(index) }
        case .waiting(let watcher):
            var isWorthTrying = true
            do throws(PathWatcherError) { isWorthTrying = try watcher.drain() } catch {}
            if isWorthTrying { open(index) }
        case .retrying, .gone:
            break
        }
    }

    /// Does what is due at a port.
    func portDeadlineReached(_ index: Int, now: Instant) {
        let port = ports[index]
        if case .retrying(let due, let attempt) = port.state, now >= due {
            open(index, attempt: attempt)
        }
        if let due = port.held.deadline, now >= due { releaseHeldFrame(ofPort: index) }
        guard let due = port.sessionDeadlines.first, now >= due else { return }
        port.sessionDeadlines.removeFirst()
        let seconds = port.sessionDeadlines.isEmpty ? 5 : 1
        report(.noIdentity(path: port.path, seconds: seconds))
        askForIdentity(onPort: index, address: Frame.broadcastAddress)
    }

    /// Reads everything that waits, but not for ever: other ports and the journal want their turn.
    private func read(_ index: Int, _ serial: SerialPort) throws(ReceiverError) {
        for _ in 0..<16 {
            switch serial.read(into: &readBuffer) {
            case .bytes(let count):
                receivedBytes(count, onPort: index)
                if count < 256 { return }
            case .wouldBlock:
                return
            case .disconnected:
                try disconnected(index)
                return
            }
        }
    }

    private func receivedBytes(_ count: Int, onPort index: Int) {
        let port = ports[index]
        let buffer = readBuffer
        let bytes = buffer.span.extracting(0..<count)
        var stream = port.stream
        var position = 0
        while true {
            if takeFix(from: &stream, in: bytes, at: &position, onPort: index) { continue }
            guard let event = stream.next(in: bytes, at: &position) else { break }
            switch event {
            case .frame: arrived(stream.frame, onPort: index)
            case .rejected: statistics.damagedFrames += 1
            }
        }
        port.stream = stream
    }

    /// Takes in the fix that stands next, the short way, if it is of the commonest form and of the log heard last at
    /// this port: so are nearly all of a backlog in single frames.
    private func takeFix(
        from stream: inout StreamDecoder, in bytes: Span<UInt8>, at position: inout Int, onPort index: Int
    ) -> Bool {
        guard !ports[index].held.isReporting, let collar = ports[index].lastCollar,
            let delivery = collars[collar].deliveries.first
        else { return false }
        var fix = Fix(sequence: 0, unixMilliseconds: 0, latitudeSteps: 0, longitudeSteps: 0)
        guard
            stream.nextFix(
                in: bytes, at: &position, log: delivery.log, reference: delivery.highestSequence, into: &fix)
        else { return false }
        do throws(DecodeError) {
            heard(collar, log: 0, header: try FrameHeader(stream.frame), onPort: index)
            store(fix, collar: collar, log: 0, signal: nil)
        } catch { statistics.malformedFrames += 1 }
        return true
    }

    /// The radio was unplugged: says so, and waits for it.
    private func disconnected(_ index: Int) throws(ReceiverError) {
        closed(index)
        let port = ports[index]
        guard configuration.reconnects else { throw .noDevice("\(port.path) was unplugged") }
        guard port.isNamedByUser else { return }
        open(index)
    }

    /// Lets go of the descriptor: a dead one that stays open gives the radio another name when it comes back.
    private func closed(_ index: Int) {
        let port = ports[index]
        releaseHeldFrame(ofPort: index)
        port.sessionDeadlines.removeAll()
        guard let serial = port.serialPort else { return }
        suspendHealth(ofPort: index)
        events.forget(serial.fileDescriptor)
        serial.close()
        port.state = .gone
        report(.unplugged(path: port.path))
    }

    /// Asks who is there: whoever wants an answer while that is not too often, else not more than once a second.
    func askForIdentity(onPort index: Int, address: UInt8, isAnswer: Bool = false) {
        let port = ports[index]
        if isAnswer {
            guard port.identityRequests.take(at: now) else {
                if port.notices.isDue(.ignoredAsks, at: now) { report(.unknownAsksIgnored(path: port.path)) }
                return
            }
        } else if let last = port.lastIdentityRequest,
            now.microseconds(since: last) < Receiver.identityRequestInterval
        {
            return
        }
        port.lastIdentityRequest = now
        let request = IdentityRequest(receiverID: receiverID)
        send(onPort: index) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try request.encode(address: address, into: &output)
        }
    }

    /// Sends one frame. None is larger than the smallest that every radio takes.
    func send(onPort index: Int, encode: (inout OutputSpan<UInt8>) throws(EncodeError) -> Void) {
        let port = ports[index]
        // A line that takes nothing would make the frames pile up; the collar asks again.
        guard port.serialPort != nil, port.outbound.count < 4096 else { return }
        let frame: [UInt8]
        do throws(EncodeError) {
            frame = try [UInt8](capacity: Frame.minimumLimitByteCount) {
                (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                try encode(&output)
            }
        } catch { preconditionFailure("what a host sends fits the smallest frame: \(error)") }
        port.outbound += serialBytes(of: frame)
        flush(index)
    }

    private func serialBytes(of frame: [UInt8]) -> [UInt8] {
        [UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { output in
            StreamEncoder.encode(frame.span, into: &output)
        }
    }

    private func flush(_ index: Int) {
        let port = ports[index]
        guard let serial = port.serialPort else { return }
        while !port.outbound.isEmpty {
            let bytes = port.outbound
            let result = serial.write(bytes.span)
            guard case .written(let count) = result else { break }
            port.outbound.removeFirst(count)
        }
        events.watch(serial.fileDescriptor, token: UInt64(index), forWriting: !port.outbound.isEmpty)
    }
}
