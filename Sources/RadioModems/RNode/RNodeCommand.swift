/// The commands of RNode firmware; numbers are sent most significant byte first.
///
/// Source: the host protocol of RNode_Firmware 1.86.
enum RNodeCommand {
    static let data: UInt8 = 0x00
    static let frequency: UInt8 = 0x01
    static let bandwidth: UInt8 = 0x02
    static let power: UInt8 = 0x03
    static let spreadingFactor: UInt8 = 0x04
    static let codingRate: UInt8 = 0x05
    static let radioState: UInt8 = 0x06
    static let detect: UInt8 = 0x08
    static let signalStrength: UInt8 = 0x23
    static let signalToNoise: UInt8 = 0x24
    static let physicalParameters: UInt8 = 0x26
    static let contention: UInt8 = 0x28
    static let firmwareVersion: UInt8 = 0x50
    static let reset: UInt8 = 0x55
    static let error: UInt8 = 0x90

    /// The data of the question ``detect``, and of its answer.
    static let detectQuestion: UInt8 = 0x73
    static let detectAnswer: UInt8 = 0x46
    /// The data of ``reset`` in the frame with which a board starts.
    static let hasStarted: UInt8 = 0xF8
    static let radioOff: UInt8 = 0x00
    static let radioOn: UInt8 = 0x01
    /// The error of a full queue.
    static let queueFullError: UInt8 = 0x04

    static let detection = KISSFrame(detect, [detectQuestion])
}
