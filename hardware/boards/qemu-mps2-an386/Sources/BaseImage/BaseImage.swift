import Board
import CollarFirmware
import CollarWire

/// The image of a base radio: the host at port 0, the radio module at port 1.
@main struct BaseImage {
    static func main() {
        // Without the blocks of the factory there is nothing to say: the program ends, and the processor stops.
        guard let factory = FactoryBlocks() else { return }
        var ports = BasePorts()
        let identity = RadioIdentity(
            radioID: factory.deviceID, firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0),
            maximumFrameByteCount: UInt8(Frame.maximumByteCount))
        var base = BaseRadio(
            BaseRadio.Configuration(
                identity: identity, modem: factory.modem, dutyCyclePartsPerMillion: factory.dutyCyclePartsPerMillion),
            now: ports.now())
        while true { ports.serve(&base) }
    }
}
