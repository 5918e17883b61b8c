/// The messages that configure a u-blox receiver, in the order in which they are sent. The first one tells the generations apart:
/// a receiver before generation 9 refuses it.
enum ConfigurationStep: UInt8 {
    case outputs
    case dynamicModel
    case powerMode
    case radioStatus
    // From here on: before generation 9.
    case rate
    case navigationEngine
    case powerManagement
    case receiverManager
    case navigationPVT
    case hardwareStatus
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
        if self == .radioStatus { return nil }
        if self == .navigationEngine, !settings.isPowerSaved { return .receiverManager }
        return ConfigurationStep(rawValue: rawValue &+ 1)
    }

    /// Whether the collar can work as the settings say although the receiver refuses the step. A receiver that cannot save power
    /// always has full power, and not every receiver watches its antenna.
    func isDispensable(_ settings: GNSSSettings) -> Bool {
        switch self {
        case .powerMode, .receiverManager: !settings.isPowerSaved
        case .radioStatus, .hardwareStatus: true
        default: false
        }
    }

    /// The number of positions for which the receiver says the state of its antenna once.
    private static var antennaInterval: UInt8 { 60 }

    /// The type that the receiver repeats in its answer.
    var type: UBXMessageType {
        switch self {
        case .outputs, .dynamicModel, .powerMode, .radioStatus: .setValues
        case .rate: .rate
        case .navigationEngine: .navigationEngine
        case .powerManagement: .powerManagement
        case .receiverManager: .receiverManager
        case .navigationPVT, .hardwareStatus, .withoutGGA, .withoutGLL, .withoutGSA, .withoutGSV, .withoutRMC, .withoutVTG:
            .messageRate
        }
    }

    /// The message.
    func command(_ settings: GNSSSettings) -> UBXCommand {
        switch self {
        case .outputs: .outputs(settings)
        case .dynamicModel: .dynamicModel(settings)
        case .powerMode: .powerMode(settings)
        case .radioStatus: .radioStatus(interval: ConfigurationStep.antennaInterval)
        case .rate: .rate(settings)
        case .navigationEngine: .navigationEngine(settings)
        case .powerManagement: .powerManagement(settings)
        case .receiverManager: .receiverManager(settings)
        case .navigationPVT: .messageRate(of: .navigationPVT, 1)
        case .hardwareStatus: .messageRate(of: .hardwareStatus, ConfigurationStep.antennaInterval)
        case .withoutGGA, .withoutGLL, .withoutGSA, .withoutGSV, .withoutRMC, .withoutVTG:
            // The standard sentences have class 0xF0 and the numbers 0 … 5 in this order.
            .messageRate(of: UBXMessageType(0xF0, rawValue &- ConfigurationStep.withoutGGA.rawValue), 0)
        }
    }
}
