import SerialDevices

/// Whether the serial numbers of the radios' adapters tell them from others.
package enum SerialNumberCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        examination.ports.compactMap { port in
            guard let adapter = port.adapter,
                let reason = MarkingRule.reasonAgainstSerial(of: adapter, among: examination.adapters)
            else { return nil }
            let evidence = Finding.Evidence("\(adapter.usbPath)/serial", adapter.serial ?? "none")
            guard case .sharedWith(let twin) = reason else { return .noSerial(port.path, evidence: evidence) }
            // Of two radios with one number the first is named.
            let first = examination.ports.first { [twin, port.node].contains($0.node) }
            guard first?.node == port.node else { return nil }
            // The mark is by the socket already, as 'collar-link mark' makes it for such adapters.
            if examination.rules.marks(adapter, among: examination.adapters) { return nil }
            let marks = examination.rules.marks
            // The number becomes a part of a command, so it must have no other characters.
            let serial = adapter.serial.flatMap { $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } ? $0 : nil }
            let isMarkedBySerial = serial.map { serial in marks?.lines.contains { $0.contains("\"\(serial)\"") } ?? false } ?? false
            return .sharedSerial(
                port.path, with: twin, serial: adapter.serial ?? "", marks: isMarkedBySerial ? marks?.path : nil, evidence: evidence,
                sudo: examination.sudo)
        }
    }
}
