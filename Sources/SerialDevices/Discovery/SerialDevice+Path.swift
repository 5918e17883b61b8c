import CLibudev
import Glibc

extension SerialDevice {
    /// The serial device at a path, which may be a symbolic link; nil if a pseudo-terminal, another file or nothing is there.
    package init?(at path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Whether a pseudo-terminal is at a path.
    package static func isPseudoTerminal(at path: String) -> Bool {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFCHR else { return false }
        // The kernel's major numbers of pseudo-terminals, in Documentation/admin-guide/devices.txt.
        return (136...143).contains(status.st_rdev >> 8 & 0xFFF)
    }

    /// The serial device of an open descriptor; nil if it is a pseudo-terminal or another file, or if the device is gone.
    init?(of descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init?(_ status: stat) {
        guard status.st_mode & S_IFMT == S_IFCHR, let context = unsafe udev_new() else { return nil }
        defer { unsafe udev_unref(context) }
        guard let device = unsafe udev_device_new_from_devnum(context, CChar(UInt8(ascii: "c")), status.st_rdev) else {
            return nil
        }
        defer { unsafe udev_device_unref(device) }
        unsafe self.init(device)
    }
}
