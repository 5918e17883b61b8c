/// A UBX message to a receiver, while it is built.
struct UBXCommand {
    /// The first two bytes of every message.
    static var synchronisation: (UInt8, UInt8) { (0xB5, 0x62) }

    /// The bytes of the longest message that a collar sends.
    static var longestByteCount: Int { 52 }

    private let type: UBXMessageType
    private var payload = InlineArray<44, UInt8>(repeating: 0)
    private var count = 0

    init(_ type: UBXMessageType) { self.type = type }

    mutating func append(_ byte: UInt8) {
        payload[count] = byte
        count &+= 1
    }

    mutating func append16(_ value: UInt16) {
        append(UInt8(truncatingIfNeeded: value))
        append(UInt8(truncatingIfNeeded: value &>> 8))
    }

    mutating func append32(_ value: UInt32) {
        append16(UInt16(truncatingIfNeeded: value))
        append16(UInt16(truncatingIfNeeded: value &>> 16))
    }

    mutating func appendZeros(_ number: Int) { count &+= number }

    /// Appends the whole message; the output must have room for ``longestByteCount`` bytes.
    func write(into output: inout OutputSpan<UInt8>) {
        output.append(UBXCommand.synchronisation.0)
        output.append(UBXCommand.synchronisation.1)
        var checksum = UBXChecksum()
        func add(_ byte: UInt8) {
            checksum.add(byte)
            output.append(byte)
        }
        add(type.messageClass)
        add(type.number)
        add(UInt8(truncatingIfNeeded: count))
        add(0)
        for index in 0..<count { add(payload.span[index]) }
        output.append(checksum.first)
        output.append(checksum.second)
    }

    /// The keys of values, with the length of each value in bytes.
    fileprivate enum Key {
        /// Milliseconds between measurements, 2 bytes.
        static var measurementInterval: UInt32 { 0x3021_0001 }
        /// Number of positions for which one NAV-PVT is sent, 1 byte.
        static var navigationPVTOnUART1: UInt32 { 0x2091_0007 }
        /// Number of positions for which one NAV-SAT is sent, 1 byte.
        static var navigationSatellitesOnUART1: UInt32 { 0x2091_0016 }
        /// Number of positions for which one MON-RF is sent, 1 byte.
        static var radioStatusOnUART1: UInt32 { 0x2091_035A }
        // 1 byte each.
        static var ubxOnUART1: UInt32 { 0x1074_0001 }
        static var nmeaOnUART1: UInt32 { 0x1074_0002 }
        static var dynamicModel: UInt32 { 0x2011_0021 }
        /// 0: full power, 1: on and off, 2: cyclic tracking; 1 byte.
        static var powerMode: UInt32 { 0x20D0_0001 }
    }

    /// A message that sets values by their keys until the receiver is switched off.
    private init(settingValues _: Void) {
        self.init(.setValues)
        append(0)
        // The only layer is the memory that the receiver forgets: a receiver that restarts then has its own defaults, all of them.
        append(1)
        appendZeros(2)
    }

    private mutating func append(_ key: UInt32, _ value: UInt8) {
        append32(key)
        append(value)
    }

    /// Sets the interval of positions, sends NAV-PVT with each, and switches NMEA off (from generation 9 on).
    static func outputs(_ settings: GNSSSettings) -> UBXCommand {
        var command = UBXCommand(settingValues: ())
        command.append32(Key.measurementInterval)
        command.append16(settings.intervalMilliseconds)
        command.append(Key.navigationPVTOnUART1, 1)
        command.append(Key.ubxOnUART1, 1)
        command.append(Key.nmeaOnUART1, 0)
        return command
    }

    /// Sets one value of one byte (from generation 9 on).
    fileprivate static func setting(_ key: UInt32, to value: UInt8) -> UBXCommand {
        var command = UBXCommand(settingValues: ())
        command.append(key, value)
        return command
    }

    /// Sets the interval of positions (before generation 9).
    static func rate(_ settings: GNSSSettings) -> UBXCommand {
        var command = UBXCommand(.rate)
        command.append16(settings.intervalMilliseconds)
        // One position for each measurement, and measurements aligned to UTC.
        command.append16(1)
        command.append16(0)
        return command
    }

    /// Sets the dynamic model (before generation 9).
    static func navigationEngine(_ settings: GNSSSettings) -> UBXCommand {
        var command = UBXCommand(.navigationEngine)
        // The mask says that only the model changes.
        command.append16(1)
        command.append(settings.dynamicModel.rawValue)
        command.appendZeros(33)
        return command
    }

    /// Describes cyclic tracking (before generation 9).
    static func powerManagement(_ settings: GNSSSettings) -> UBXCommand {
        var command = UBXCommand(.powerManagement)
        command.append(1)
        command.appendZeros(3)
        // Cyclic tracking, and time to read the orbits of satellites again.
        command.append32(1 &<< 17 | 1 &<< 12)
        command.append32(UInt32(settings.intervalMilliseconds))
        // After a search without success the receiver waits ten seconds.
        command.append32(10_000)
        command.appendZeros(28)
        return command
    }

    /// Switches the saving of power on or off (before generation 9).
    static func receiverManager(_ settings: GNSSSettings) -> UBXCommand {
        var command = UBXCommand(.receiverManager)
        command.append(8)
        command.append(settings.isPowerSaved ? 1 : 0)
        return command
    }

    /// Sets for how many positions a message is sent once; 0 switches it off (before generation 9).
    static func messageRate(of type: UBXMessageType, _ rate: UInt8) -> UBXCommand {
        var command = UBXCommand(.messageRate)
        command.append(type.messageClass)
        command.append(type.number)
        command.append(rate)
        return command
    }

    /// Switches the receiver off until a byte arrives on its serial line. The receiver does not answer.
    /// - Parameter isByKeys: whether the receiver has generation 9 or a later one, which takes a longer form.
    static func powerOff(isByKeys: Bool) -> UBXCommand {
        var command = UBXCommand(.powerRequest)
        if isByKeys { command.appendZeros(4) }
        // No end of the pause.
        command.append32(0)
        // Backup mode, also while the receiver has power from a cable.
        command.append32(isByKeys ? 0b110 : 0b10)
        // A byte on the serial line wakes the receiver; older ones always wake from that.
        if isByKeys { command.append32(0b1000) }
        return command
    }
}

/// The messages that configure a u-blox receiver, in the order in which they are sent. The first one tells the generations apart:
/// a receiver before generation 9 refuses it.
enum ConfigurationStep: UInt8 {
    case outputs
    case dynamicModel
    case powerMode
    case radioStatus
    case satellites
    // From here on: before generation 9.
    case rate
    case navigationEngine
    case powerManagement
    case receiverManager
    case navigationPVT
    case hardwareStatus
    case satellitesOfOldReceivers
    case withoutGGA
    case withoutGLL
    case withoutGSA
    case withoutGSV
    case withoutRMC
    case withoutVTG

    /// The first step for a receiver before generation 9.
    static var firstOfOldReceivers: ConfigurationStep { .rate }

    /// Whether the step is for receivers from generation 9 on.
    var isByKeys: Bool { rawValue < ConfigurationStep.firstOfOldReceivers.rawValue }

    /// The step after this one; nil if it is the last.
    func next(_ settings: GNSSSettings) -> ConfigurationStep? {
        if self == .satellites { return nil }
        if self == .navigationEngine, !settings.isPowerSaved { return .receiverManager }
        return ConfigurationStep(rawValue: rawValue &+ 1)
    }

    /// Whether the collar can work as the settings say although the receiver refuses the step. A receiver that cannot save power
    /// always has full power, and not every receiver watches its antenna or tells its satellites.
    func isDispensable(_ settings: GNSSSettings) -> Bool {
        switch self {
        case .powerMode, .receiverManager: !settings.isPowerSaved
        case .radioStatus, .hardwareStatus, .satellites, .satellitesOfOldReceivers: true
        default: false
        }
    }

    /// The number of positions for which the receiver says the state of its antenna once.
    private static var antennaInterval: UInt8 { 60 }
    /// The number of positions for which the receiver tells its satellites once.
    private static var satelliteInterval: UInt8 { 5 }

    /// The type that the receiver repeats in its answer. To take it from ``command(_:)`` would need more flash.
    var type: UBXMessageType {
        switch self {
        case .outputs, .dynamicModel, .powerMode, .radioStatus, .satellites: .setValues
        case .rate: .rate
        case .navigationEngine: .navigationEngine
        case .powerManagement: .powerManagement
        case .receiverManager: .receiverManager
        case .navigationPVT, .hardwareStatus, .satellitesOfOldReceivers, .withoutGGA, .withoutGLL, .withoutGSA, .withoutGSV,
            .withoutRMC, .withoutVTG:
            .messageRate
        }
    }

    func command(_ settings: GNSSSettings) -> UBXCommand {
        switch self {
        case .outputs: .outputs(settings)
        case .dynamicModel: .setting(UBXCommand.Key.dynamicModel, to: settings.dynamicModel.rawValue)
        case .powerMode: .setting(UBXCommand.Key.powerMode, to: settings.isPowerSaved ? 2 : 0)
        case .radioStatus: .setting(UBXCommand.Key.radioStatusOnUART1, to: ConfigurationStep.antennaInterval)
        case .satellites: .setting(UBXCommand.Key.navigationSatellitesOnUART1, to: ConfigurationStep.satelliteInterval)
        case .rate: .rate(settings)
        case .navigationEngine: .navigationEngine(settings)
        case .powerManagement: .powerManagement(settings)
        case .receiverManager: .receiverManager(settings)
        case .navigationPVT: .messageRate(of: .navigationPVT, 1)
        case .hardwareStatus: .messageRate(of: .hardwareStatus, ConfigurationStep.antennaInterval)
        case .satellitesOfOldReceivers: .messageRate(of: .navigationSatellites, ConfigurationStep.satelliteInterval)
        case .withoutGGA, .withoutGLL, .withoutGSA, .withoutGSV, .withoutRMC, .withoutVTG:
            // The standard sentences have class 0xF0 and the numbers 0 … 5 in this order.
            .messageRate(of: UBXMessageType(0xF0, rawValue &- ConfigurationStep.withoutGGA.rawValue), 0)
        }
    }
}
