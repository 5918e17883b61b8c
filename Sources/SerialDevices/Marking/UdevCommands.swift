/// The commands after which udev knows a new rule, and applies it to what is plugged in.
package enum UdevCommands {
    /// The words of each command.
    package static let all = [
        ["udevadm", "control", "--reload"],
        // A mark of the USB device keeps ModemManager away.
        ["udevadm", "trigger", "--subsystem-match=tty", "--subsystem-match=usb"],
    ]
}
