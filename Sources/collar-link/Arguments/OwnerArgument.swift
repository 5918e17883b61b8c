import CollarARQ
import CollarErrors
import CollarFormats
import CollarJournal
import CollarReaders
import CollarTracking
import Glibc
import LinuxBoard
import LinuxSystem
import SerialDevices

/// The value of `--owner`.
enum OwnerArgument {
    case home
    case at(Position)
    /// gpsd at an address `tcp://HOST:PORT`.
    case gpsd(address: String)
    /// A GNSS receiver at a serial port.
    case port(path: String)

    private static let scheme = "gpsd://"

    init?(_ text: String) {
        if text == PlaceTable.homeName {
            self = .home
        } else if text == "gpsd" {
            self = .gpsd(address: GNSSSource.localGPSD)
        } else if text.hasPrefix("/") {
            self = .port(path: text)
        } else if text.hasPrefix(OwnerArgument.scheme) {
            let rest = text.dropFirst(OwnerArgument.scheme.count)
            let address = NetworkAddress.scheme + rest
            if NetworkAddress(address) != nil {
                self = .gpsd(address: address)
            } else if NetworkAddress(address + GNSSSource.portOfGPSD) != nil {
                self = .gpsd(address: address + GNSSSource.portOfGPSD)
            } else {
                return nil
            }
        } else if let position = Position(text: text[...]) {
            self = .at(position)
        } else {
            return nil
        }
    }

    var owner: Owner {
        switch self {
        case .home: .home
        case .at(let position): .at(position)
        case .gpsd: .moving(.gpsd, nil)
        case .port: .moving(.nmea, nil)
        }
    }
}

extension ParsedArguments {
    /// `--owner`; nil if the option is absent.
    func owner() throws(CommandFailure) -> OwnerArgument? {
        guard let text = value("--owner") else { return nil }
        guard let owner = OwnerArgument(text) else {
            throw CommandFailure(
                .usage, "`--owner` takes a latitude and a longitude in degrees, `home`, or in `follow` and `deliver` also `gpsd`, "
                    + "gpsd://HOST:PORT or the path of a serial port, not '\(text)'.",
                remedy: "For example: `--owner 50.1703,-5.1140`.")
        }
        return owner
    }

    /// The speed of a serial port: `key` BITS; 9600 bit/s without it.
    func lineSpeed(_ key: String) throws(CommandFailure) -> LineSpeed {
        let speed = try integer(key, in: 4800...921_600) ?? 9600
        guard let speed = LineSpeed(rawValue: UInt32(speed)) else {
            throw CommandFailure(
                .usage, "`\(key)` takes no \(speed).", remedy: "It takes \(LineSpeed.allCases.map { String($0.rawValue) }.joined(separator: ", ")).")
        }
        return speed
    }

    /// The receiver that says where the owner is; nil if the owner does not move.
    func ownerReceiver(_ filter: LogFilter) throws(CommandFailure) -> (any OwnerReceiver)? {
        let speed = try lineSpeed(OptionSpec.ownerSpeed.key)
        switch try owner() {
        case .gpsd(let address): return OwnerLocationReceiver(.gpsd, .gpsd(address: address), filter)
        case .port(let path): return OwnerLocationReceiver(.nmea, .port(path: path, speed), filter)
        case nil, .home, .at: break
        }
        guard !has(OptionSpec.ownerSpeed.key) else {
            throw CommandFailure(
                .usage, "`--owner-speed` goes with a serial port.", remedy: "Leave it out, or name the port: `--owner /dev/ttyUSB0`.")
        }
        return nil
    }
}

/// The part about `--owner` in the help of `follow` and `deliver`.
let ownerNotes = """
    moving owners:
    `--owner gpsd` asks gpsd on this machine, gpsd://HOST:PORT one elsewhere, and a path opens a serial port with an NMEA or u-blox
    receiver. The position changes in steps of 10 m. After 30 s without one it is unknown: distances are left out, and no alert says
    far or near. `--events owner` writes each change.
    """

extension OptionSpec {
    static let owner = OptionSpec(
        "--owner", value: "LAT,LON|home",
        is: "write the distance and the direction of every fix from this position, or from the place `home` (default: neither)")

    /// The option of readers that can follow an owner who moves.
    static let movingOwner = OptionSpec(
        "--owner", value: "LAT,LON|home|gpsd|PORT",
        is: "write the distance and the direction of every fix from this position, from the place `home`, or from where gpsd or a GNSS receiver at a serial port is (default: neither)")

    static let ownerSpeed = OptionSpec(
        "--owner-speed", value: "BITS", is: "speed of the serial port in `--owner`: 4800, 9600 … 921600 bit/s (default 9600)")
}

/// The receiver of an owner who moves, for a reader; what happens at its port is said on stderr.
private final class OwnerLocationReceiver: OwnerReceiver {
    private let source: OwnerSource
    private let location: OwnerLocation

    init(_ source: OwnerSource, _ gnss: GNSSSource, _ filter: LogFilter) {
        self.source = source
        location = OwnerLocation(gnss, at: HostTime.now.instant) { notice in
            guard let message = notice.message(at: gnss.path) else { return }
            var mark = LogMark(message, otherwise: .ownerLocation)
            mark.category = .ownerLocation
            if case .unknown = notice { mark.level = .warning }
            if filter.passes(mark) { StandardError.say(message, as: mark) }
        }
    }

    var descriptors: [pollfd] { location.descriptors }
    var nextDeadline: Instant? { location.nextDeadline }
    var failure: UserMessage? { location.failure?.message }

    func serve(at now: Instant) -> Owner? { location.serve(at: now) ? .moving(source, location.position) : nil }
}

extension OwnerLocation.Notice {
    /// The message for a person; nil where there is nothing to say.
    fileprivate func message(at path: String) -> UserMessage? {
        switch self {
        case .port(let notice): notice.message(to: "reader", at: path)
        case .known: UserMessage(nil, "The owner's position is known from \(path).")
        case .unknown:
            UserMessage(
                nil, "The owner's position is unknown: \(path) has said none for 30 s; distances are left out.",
                "The receiver needs a clear view of the sky; `gpsmon` shows what it says.")
        }
    }
}
