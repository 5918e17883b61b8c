import SerialDevices

/// Whether udevd runs and can be reached: it applies the rules that mark radios and let the user open them.
package enum UdevCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        guard !examination.isUdevRunning else { return [] }
        return [.udevNotRunning(containerMark: examination.containerMark, sudo: examination.sudo)]
    }
}
