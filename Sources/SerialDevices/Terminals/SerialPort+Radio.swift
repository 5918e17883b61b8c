extension SerialPort {
    /// Opens the line of a collar radio that udev has found, as ``init(opening:)`` does.
    ///
    /// Another device may have come to the node since udev found the radio, and opening the port of a stranger raises its DTR,
    /// which resets some devices. So only a device that is marked now is opened.
    /// - Throws: `.notFound` if the device is gone or is not marked as a collar radio any more.
    package convenience init(openingRadioAt path: String) throws(SerialPortError) {
        guard let radio = SerialDevice(at: path), radio.isCollarRadio else { throw .notFound(path: path) }
        try self.init(opening: path)
        // The device may have changed after the check. Only a simulated machine has a pseudo-terminal there.
        let opened = isPseudoTerminal ? SerialDevice(at: path) : SerialDevice(of: fileDescriptor)
        guard let opened, opened.isCollarRadio, opened.sysPath == radio.sysPath else {
            close()
            throw .notFound(path: path)
        }
    }
}
