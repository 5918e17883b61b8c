import Board
import CollarARQ
import CollarFirmware
import CollarWire

/// The image of a collar.
@main struct CollarImage {
    static func main() {
        // Without the blocks of the factory there is nothing to say: the program ends, and the processor stops.
        guard let factory = FactoryBlocks() else { return }
        let modem = ModemProfile(factory.modem)
        let delivery = CollarDelivery.Configuration(
            modem: modem, sendsLiveFixes: true, batchFrameByteLimit: Frame.maximumByteCount,
            dutyCyclePartsPerMillion: factory.dutyCyclePartsPerMillion,
            jitterSeed: modem.isHalfDuplex ? FactoryBlocks.randomWord() : nil)
        let configuration = Collar<BoardFlash>.Configuration(
            deviceID: DeviceID(rawValue: factory.deviceID), address: factory.address,
            firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0), capabilities: .sounder, delivery: delivery,
            factoryKey: factory.key)
        CollarProgram.run(on: EmulatedCollar(factory), configuration: configuration)
    }
}
