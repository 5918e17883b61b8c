import SerialDevices

/// Whether udevd's events of devices arrive: they are messages of the network, and stay in the network namespace of udevd.
package enum NetworkNamespaceCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        guard examination.isUdevRunning, examination.machine.hearsUdevd == false else { return [] }
        return [
            .networkNamespace(
                evidence: Finding.Evidence(Udevd.netlinkSockets, "no socket of udevd"),
                isContainer: examination.containerMark != nil)
        ]
    }
}
