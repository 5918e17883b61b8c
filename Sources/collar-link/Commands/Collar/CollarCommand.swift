import CollarARQ
import CollarConfiguration
import CollarErrors
import CollarFirmware
import CollarFormats
import CollarPorts
import CollarWire
import Glibc
import LinuxBoard
import LinuxSystem
import RadioModems
import SerialDevices

enum CollarCommand: Command {
    static let spec = CommandSpec(
        name: "collar",
        title: "be a collar: this machine, a radio stick and a GNSS receiver",
        synopsis: "collar-link collar --flash FILE --radio PORT --gnss PORT|gpsd [options]",
        summary: """
            Makes a collar of this machine. It runs the firmware of a collar: it logs a fix each second, sends the fixes through the stick,
            and keeps each until a receiver has acknowledged it. A receiver on another machine, with a stick of the same firmware, receives
            it as any collar: `collar-link --region EU868`.

            If FILE does not exist, it becomes a new collar, and `--key-file` gets its key. The receiver needs that key once:
            `collar-link key add ID FILE`.
            """,
        options: [
            OptionSpec("--flash", value: "FILE", is: "the collar: its id, its key, its settings and its log; one file for each collar"),
            OptionSpec("--key-file", value: "FILE", is: "write the key of a new collar to this file, which must not exist"),
            OptionSpec("--device", value: "ID", is: "id of a new collar, 16 hexadecimal digits (default: random)"),
            OptionSpec("--radio", value: "PORT", is: "port of the radio stick; best a link in /dev/serial/by-id"),
            OptionSpec("--gnss", value: "PORT|gpsd", is: "port of a u-blox or NMEA receiver, `gpsd`, or gpsd at tcp://HOST:PORT"),
            OptionSpec("--gnss-speed", value: "BITS", is: "speed of that port: 4800, 9600 … 921600 bit/s (default 9600)"),
            OptionSpec(
                "--movement", value: "KIND", is: "what a u-blox receiver expects: portable, pedestrian, automotive, sea or airborne (default pedestrian)"),
        ] + RadioOption.allCases.map(\.spec) + [
            OptionSpec("--battery", value: "COMMAND", is: "command that prints percent, and perhaps millivolts and °C (default: the machine's battery)"),
            OptionSpec("--button", value: "DEVICE", is: "input device whose keys are the button, such as /dev/input/event0"),
            OptionSpec("--light", value: "COMMAND", is: "command that switches a light; it gets `on` or `off` as its argument"),
            OptionSpec("--sounder", value: "COMMAND", is: "the same for a sounder"),
            OptionSpec("--cable", value: "PORT", is: "serial line for `collar-link key exchange` on another machine"),
        ],
        notes: """
            signals:
              kill -USR1  press the button: make a fix now; twice: open pairing
              kill -USR2  press it for three seconds: stop or start tracking

            radios:
            Stick and settings must be those of the receiver. With `--dialect` the collar need not find out which firmware the stick has:
            until it is found, frames have 239 bytes at most. The collar keeps to the duty cycle of its region.

            GNSS receivers:
            A u-blox receiver is told its interval and to speak UBX. gpsd keeps its receiver; the collar takes what gpsd reports.

            flash:
            Each change is on the disk before anything is sent that depends on it. A power cut costs nothing that was logged. The first start
            after a boot of the machine counts as a power-on, after which the collar obeys *pair* for a minute.

            examples:
              collar-link collar --flash goat --key-file goat.key --radio /dev/ttyUSB0 \\
                  --gnss /dev/ttyACM0 --region EU868
              collar-link collar --flash boat --radio /dev/ttyUSB0 --gnss gpsd \\
                  --region US915 --movement sea
              collar-link collar --flash goat --radio /dev/ttyUSB0 --gnss gpsd \\
                  --region EU868 --battery 'cat charge' --light ./led

            exit codes:
              0   ended by a signal
              64  wrong usage
              69  no such input device
              73  the collar's file or its key file cannot be made
              74  the collar's file cannot be used
              75  the collar's file is in use
              77  no permission to use the collar's file
              78  wrong configuration, or a port is no serial port
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let configuration = try self.configuration(arguments)
        try makeCollar(arguments, at: configuration.flash)
        let board: LinuxBoard
        do throws(LinuxBoard.Failure) {
            board = try LinuxBoard(configuration) { path, notice in
                guard let message = notice.message(to: "collar", at: path) else { return }
                StandardError.say(message)
            } report: { notice in
                StandardError.say(notice.message(radio: configuration.radio))
            }
        } catch { throw CommandFailure(error.message) }
        StandardError.say("This is collar \(board.device.deviceID); Ctrl-C ends it.")
        while !board.hasEnded {
            var program = CollarProgram(board, configuration: board.collarConfiguration(firmwareVersion: version))
            var deadline = program.step()
            while !board.hasEnded, !board.isRestartDue, !program.isResetDue, board.failure == nil {
                program.wait(until: deadline)
                deadline = program.step()
            }
            if let failure = board.failure { throw CommandFailure(failure.message) }
        }
        return .clean
    }

    private static let version = FirmwareVersion(major: 1, minor: 0, patch: 0)

    private static func configuration(_ arguments: ParsedArguments) throws(CommandFailure) -> BoardConfiguration {
        func needed(_ key: String, _ remedy: String) throws(CommandFailure) -> String {
            guard let value = arguments.value(key) else { throw CommandFailure(.usage, "`collar` needs `\(key)`.", remedy: remedy) }
            return value
        }
        let flash = try needed("--flash", "Name a file for the collar: `--flash FILE`; a missing one is made.")
        let radio = try needed("--radio", "Name the port of the stick: `collar-link devices` lists the ports.")
        let gnss = try needed("--gnss", "Name the port of the GNSS receiver, or `--gnss gpsd`.")
        let speed = try arguments.lineSpeed("--gnss-speed")
        var configuration = BoardConfiguration(
            radio: radio, modem: try arguments.radio().modem(path: radio, serialNumber: nil, idPath: nil, node: nil),
            gnss: gnss == "gpsd" ? .gpsd(address: GNSSSource.localGPSD) : NetworkAddress(gnss) == nil ? .port(path: gnss, speed) : .gpsd(address: gnss),
            flash: flash)
        configuration.movement =
            try arguments.choice(
                "--movement",
                of: ["portable": .portable, "pedestrian": .pedestrian, "automotive": .automotive, "sea": .sea, "airborne": .airborne]) ?? .pedestrian
        configuration.batteryCommand = arguments.value("--battery")
        configuration.button = arguments.value("--button")
        configuration.lightCommand = arguments.value("--light")
        configuration.sounderCommand = arguments.value("--sounder")
        configuration.cable = arguments.value("--cable")
        return configuration
    }

    /// Makes a collar if there is none at the path.
    private static func makeCollar(_ arguments: ParsedArguments, at path: String) throws(CommandFailure) {
        if SystemFiles.status(of: path) != nil {
            guard let option = ["--key-file", "--device"].first(where: { arguments.has($0) }) else { return }
            throw CommandFailure(
                .usage, "\(path) is a collar already, with an id and a key.", remedy: "Leave out `\(option)`, or name a file that does not exist.")
        }
        guard let keyPath = arguments.value("--key-file") else {
            throw CommandFailure(
                .usage, "\(path) does not exist.", remedy: "To make a new collar, name a file for its key: `--key-file FILE`.")
        }
        let deviceID = try arguments.deviceID("--device")
        let made: DeviceID
        do throws(DeviceFile.Failure) {
            made = try DeviceFile.make(at: path, deviceID: deviceID, keyPath: keyPath)
        } catch { throw CommandFailure(.cannotCreate, error.message) }
        StandardError.say(
            "A new collar, \(made), is in \(path), and its key in \(keyPath).",
            remedy: "Copy the key to the receiver's machine, and run there: `\(ShellCommand("collar-link", "key", "add", "\(made)", keyPath).text)`")
    }
}

extension PortNotice {
    /// The message for a person who uses the port with a `user`, such as a collar; nil where there is nothing to say.
    func message(to user: String, at path: String) -> UserMessage? {
        switch self {
        case .waiting: UserMessage("The \(user) is waiting for \(path) to appear.")
        case .opened(let node): UserMessage("The \(user) uses \(node ?? path).")
        case .unmarked: nil
        case .unplugged: UserMessage("\(path) \(NetworkAddress(path) == nil ? "was unplugged" : "is gone"); the \(user) is waiting for it.")
        case .read(let reader):
            .deviceInUse("\(path) is also open in \(ProcessHolder.description(of: reader)), which takes bytes away if it reads them.", reader, path: path)
        case .cannotOpen(let error): error.message
        case .cannotConnect(let reason): UserMessage("\(path) cannot be reached: \(reason); it is tried again.")
        }
    }
}

extension BoardNotice {
    fileprivate func message(radio path: String) -> UserMessage {
        switch self {
        case .radio(let notice): notice.message(port: path)
        case .batteryUnknown:
            UserMessage("The battery command printed no reading.", "It prints a number from 0 to 100, then perhaps millivolts and degrees Celsius.")
        }
    }
}

extension PortFailure {
    var message: UserMessage {
        switch self {
        case .port(let error): error.message
        case .noDevice(let path): UserMessage(.noDevice, "\(path ?? "The port") is gone.")
        case .connection(let path, let reason): UserMessage(.radioUnreachable, "\(path) cannot be reached: \(reason).")
        }
    }
}

extension ErrorCode {
    /// The code of a failure at the collar's file.
    fileprivate static func ofFile(_ errorNumber: Int32) -> ErrorCode {
        switch errorNumber {
        case EACCES, EPERM: .permissionDenied
        case EBUSY: .deviceInUse
        default: .storageFailing
        }
    }
}

extension DeviceFile.Failure {
    fileprivate var message: UserMessage {
        switch self {
        case .exists(let path):
            UserMessage(.storageFailing, "\(path) exists, and may hold the key of another collar.", "Name another file: `--key-file FILE`.")
        case .system(let path, let operation, let errorNumber):
            UserMessage(.ofFile(errorNumber), "\(path) cannot be used: \(operation): \(SystemError.text(errorNumber)).")
        case .notACollar(let path):
            UserMessage(.storageFailing, "\(path) is no collar.", "Name the file of a collar, or one that does not exist.")
        }
    }
}

extension LinuxBoard.Failure {
    fileprivate var message: UserMessage {
        switch self {
        case .device(let failure): failure.message
        case .flash(let error): UserMessage(.ofFile(error.errorNumber), "\(error.path) cannot be used: \(error.reason).")
        case .button(let path, let error):
            UserMessage(.noDevice, "\(path) cannot be opened: \(error.text).", "`ls -l /dev/input/by-path` lists the input devices.")
        case .system(let error): UserMessage(.unknown, error.message.reason)
        }
    }
}
