import CollarFirmware
import CollarWire
import RadioModems
import SerialDevices

/// The parts of a collar on a Linux machine.
package struct BoardConfiguration: Sendable {
    /// The path of the radio's stick.
    package var radio: String
    package var modem: ModemConfiguration
    package var gnss: GNSSSource
    /// The file of the collar, see ``DeviceFile``.
    package var flash: String
    /// The serial line on which keys are exchanged; nil for none.
    package var cable: String?
    /// A command that prints the charge of the battery; nil to ask the kernel.
    package var batteryCommand: String?
    /// An input device whose keys are the button; nil for none.
    package var button: String?
    /// Commands that get `on` or `off` as their argument; nil for none.
    package var lightCommand: String?
    package var sounderCommand: String?
    /// The movements that a u-blox receiver is told to expect.
    package var movement: GNSSSettings.DynamicModel

    package init(radio: String, modem: ModemConfiguration, gnss: GNSSSource, flash: String, movement: GNSSSettings.DynamicModel = .pedestrian) {
        self.radio = radio
        self.modem = modem
        self.gnss = gnss
        self.flash = flash
        self.movement = movement
    }
}

/// A source of positions.
package enum GNSSSource: Equatable, Sendable {
    /// A receiver at a serial line, which is configured if it is one of u-blox.
    case port(path: String, LineSpeed)
    /// The daemon `gpsd` at an address `tcp://HOST:PORT`, which has its own receiver.
    case gpsd(address: String)

    /// The port at which gpsd listens, which IANA has given it; after a host.
    package static let portOfGPSD = ":2947"
    /// gpsd on this machine.
    package static let localGPSD = "tcp://localhost" + portOfGPSD

    /// The path of the port, or the address of gpsd.
    package var path: String {
        switch self {
        case .port(let path, _): path
        case .gpsd(let address): address
        }
    }
}

/// An event at a collar on a Linux machine that a person should know of.
package enum BoardNotice: Sendable {
    case radio(ModemNotice)
    /// The battery command printed no reading.
    case batteryUnknown
}
