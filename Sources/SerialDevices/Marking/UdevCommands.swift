/// The commands after which udev knows a new rule, and applies it to what is plugged in.
package enum UdevCommands {
    /// The commands, each as its words.
    package static let all = [
        ["udevadm", "control", "--reload"], ["udevadm", "trigger", "--subsystem-match=tty", "--subsystem-match=usb"],
    ]

    /// The commands as they are typed.
    package static func line(asRoot isRoot: Bool) -> String {
        all.map { (isRoot ? "" : "sudo ") + $0.joined(separator: " ") }.joined(separator: " && ")
    }
}
