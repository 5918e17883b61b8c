import CollarErrors
import Glibc
import LinuxSystem
import SerialDevices

extension CaptureFileError {
    /// The error, for a person.
    /// - Parameter isReceiving: whether the receiver goes on without the capture.
    package func message(isReceiving: Bool) -> UserMessage {
        switch self {
        case .system(let path, let operation, let errorNumber):
            UserMessage(
                .captureFailing, "the capture \(path) cannot be written: \(operation): \(SystemError.text(errorNumber))",
                (isReceiving ? "Receiving goes on. " : "") + remedy(errorNumber, isReceiving: isReceiving))
        case .notAFile(let path):
            UserMessage(.captureFailing, "\(path) is no file: a capture is written to a file", "Name another file: `--write FILE`.")
        case .otherContent(let path):
            UserMessage(
                .captureFailing, "\(path) holds something else than a capture, and is not overwritten",
                "Remove it, or name another file: `--write FILE`.")
        case .inUse(let path):
            UserMessage(.captureFailing, "\(path) is in use by another process", "Name another file: `--write FILE`.")
        }
    }

    private func remedy(_ errorNumber: Int32, isReceiving: Bool) -> String {
        switch errorNumber {
        case ENOSPC, EDQUOT:
            isReceiving
                ? "Make room, then restart collar-link: the capture goes on, too." : "Make room, or name a file on another disk: `--write FILE`."
        case EFBIG: "Raise the limit of file sizes (`ulimit -f`), or name another file: `--write FILE`."
        default: "Name a file that can be written: `--write FILE`."
        }
    }
}

extension CaptureError {
    /// The error, for a person.
    /// - Parameters:
    ///   - path: the path of the file, or `stdin`.
    ///   - command: the command that reads captures, as it reads stdin.
    package func message(path: String, _ command: ShellCommand = ShellCommand("collar-link", "--read", "-")) -> UserMessage {
        if var mismatch = kind?.mismatch(path: path, .capture, command) {
            mismatch.code = .captureDamaged
            return mismatch
        }
        let reason =
            switch problem {
            case .notACapture: "this is no capture"
            case .blockLength(let count): "a block has the impossible length \(count)"
            case .shortBlock(let type): "a block of type \(type) is too short"
            case .unknownInterface(let number): "a packet names interface \(number), which was not described before"
            case .timeResolution(let resolution): "times in the resolution \(resolution) cannot be used"
            case .version(let version): "a record has version \(version), which this version cannot read"
            case .content(let event): "the content of a record of event \(event) is wrong"
            case .cut: "the capture ends inside a block"
            }
        return UserMessage(
            .captureDamaged, "\(path), byte \(offset): \(reason)",
            problem == .notACapture ? "Name a file that `--write` has made." : "What was before it in the file is used.")
    }
}
