import CheckedNumbers
import CollarPorts
import Glibc
import LinuxSystem
import SerialDevices

/// A machine that was recorded in a directory.
///
/// The directory holds files with the paths that they have on the machine, and a file `facts` with a line `KEY = VALUE` for each
/// fact that is in no file. Besides the keys of ``MachineFact`` there are `link PATH = TARGET`, `refused PATH =` (a file that cannot
/// be read), `entry PATH =` (a name in a directory), `absent PATH =`, and `base = NAME`: the machine is like the one that is
/// recorded beside it as NAME, except for what this one says; `absent` removes a path of the base, with all below it.
package final class RecordedMachine: MachineFacts {
    /// Why a directory is no recorded machine.
    package enum LoadError: Error, Equatable, Sendable {
        case unreadable(path: String)
        /// A line is not `KEY = VALUE`. Lines count from 1.
        case wrongLine(path: String, line: Int)
        /// The fact of a line cannot have this value. Lines count from 1.
        case wrongValue(path: String, line: Int)
        /// The machine is its own base, directly or through others.
        case endless(path: String)
    }

    private struct Layer {
        package let directory: String
        package var facts: [String: String] = [:]

        package func says(_ key: String) -> Bool { facts[key] != nil }

        /// Whether the path, or a directory above it, is absent.
        package func hides(_ path: String) -> Bool {
            if facts.isEmpty { return false }
            var place = path[...]
            while !place.isEmpty {
                if says("absent \(place)") { return true }
                guard let slash = place.lastIndex(of: "/") else { return false }
                place = place[..<slash]
            }
            return false
        }
    }

    /// The directory itself, then its bases.
    private let layers: [Layer]

    package init(directory: String) throws(LoadError) {
        let parts = (SystemFiles.absolutePath(directory) ?? directory).split(separator: "/")
        let folder = parts.dropLast().map { "/\($0)" }.joined()
        var layers: [Layer] = []
        var next = parts.last.map(String.init)
        while let name = next {
            let place = "\(folder)/\(name)"
            guard !layers.contains(where: { $0.directory == place }) else { throw .endless(path: place) }
            layers.append(Layer(directory: place, facts: try RecordedMachine.facts(at: "\(place)/facts")))
            next = layers.last?.facts["base"]
        }
        self.layers = layers
    }

    private static func facts(at path: String) throws(LoadError) -> [String: String] {
        guard case .bytes(let bytes) = RunningMachine.read(path) else { throw .unreadable(path: path) }
        var facts: [String: String] = [:]
        for (index, line) in String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        where !line.isEmpty && !line.hasPrefix("#") {
            guard let fact = FactLine(line) else { throw .wrongLine(path: path, line: index + 1) }
            guard fact.hasPossibleValue else { throw .wrongValue(path: path, line: index + 1) }
            facts[fact.key] = fact.value
        }
        return facts
    }

    package func content(of path: String) -> FileContent {
        for layer in layers {
            if layer.says("refused \(path)") { return .refused }
            let content = RunningMachine.read(layer.directory + path)
            if content != .absent { return content }
            if layer.hides(path) { return .absent }
        }
        return .absent
    }

    package func names(in directory: String) -> [String] {
        var names: Set<String> = []
        let start = directory == "/" ? "/" : directory + "/"
        for layer in layers.reversed() {
            if layer.hides(directory) { names = [] }
            names = names.filter { !layer.hides(start + $0) }
            names.formUnion(SystemFiles.entries(of: layer.directory + directory))
            for key in layer.facts.keys {
                guard let space = key.firstIndex(of: " "), ["link", "entry"].contains(key[..<space]) else { continue }
                let path = key[key.index(after: space)...]
                if path.hasPrefix(start) { names.insert(String(path.dropFirst(start.count).prefix { $0 != "/" })) }
            }
        }
        return names.sorted()
    }

    package func linkTarget(of path: String) -> String? { value(of: "link \(path)", at: path) }

    package func text(of fact: MachineFact) -> String? {
        switch fact {
        case .status(let path), .access(let path), .holder(let path): value(of: fact.key, at: path)
        case .space(let path): space(at: path)
        default: value(of: fact.key, at: nil)
        }
    }

    private func value(of key: String, at path: String?) -> String? {
        for layer in layers {
            if let value = layer.facts[key] { return value }
            if let path, layer.hides(path) { return nil }
        }
        return nil
    }

    /// The room at a path; if none is recorded, that of the nearest directory above it.
    private func space(at path: String) -> String? {
        var place = path[...]
        while true {
            if let value = value(of: MachineFact.space(place.isEmpty ? "/" : String(place)).key, at: nil) { return value }
            guard let slash = place.lastIndex(of: "/") else { return nil }
            place = place[..<slash]
        }
    }
}

extension FactLine {
    /// Reads a line without its line feed; nil if it has no equals sign.
    package init?(_ line: some StringProtocol) {
        guard let equals = line.firstIndex(of: "=") else { return nil }
        var key = line[..<equals]
        var value = line[line.index(after: equals)...]
        while key.last == " " { key = key.dropLast() }
        while value.first == " " { value = value.dropFirst() }
        guard !key.isEmpty else { return nil }
        self.init(key: FactLine.unescaped(key), value: FactLine.unescaped(value))
    }

    /// Whether the value is one that a fact with this key can have. A value that is empty means that the machine did not say.
    fileprivate var hasPossibleValue: Bool {
        guard !value.isEmpty else { return true }
        return switch key.prefix(while: { $0 != " " }) {
        case "time": Int64(value, in: .unixMilliseconds) != nil
        case "status": FileStatus(value) != nil
        case "space": DiskSpace(value) != nil
        case "holder": ProcessHolder(fact: value) != nil
        default: true
        }
    }
}

/// A line of a recorded machine: `KEY = VALUE`. A percent sign and two hexadecimal digits are a byte of a character that would break
/// the line, or the key.
package struct FactLine: Equatable {
    package let key: String
    package let value: String

    /// The line, with its line feed.
    package var text: String { "\(FactLine.escaped(key, alsoEquals: true)) = \(FactLine.escaped(value))\n" }

    private static func escaped(_ text: String, alsoEquals: Bool = false) -> String {
        text.unicodeScalars.map { scalar in
            guard scalar.value < 0x20 || scalar == "%" || alsoEquals && scalar == "=" else { return String(scalar) }
            return (scalar.value < 0x10 ? "%0" : "%") + String(scalar.value, radix: 16, uppercase: true)
        }.joined()
    }

    private static func unescaped(_ text: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, let code = UInt8(digits: digits, radix: 16, in: 0 ... .max) {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Passes on the facts of a machine, and remembers each, so that they can be written to a directory.
package final class MachineRecorder: MachineFacts {
    private let machine: any MachineFacts
    private var contents: [String: [UInt8]] = [:]
    private var facts: [String: String] = [:]
    /// Lines of the file at a path that are not recorded, because they may hold what nobody should send to others.
    private let isKept: (_ path: String, _ line: ArraySlice<UInt8>) -> Bool

    /// - Parameter isKept: whether a line of the file at a path is recorded.
    package init(
        _ machine: any MachineFacts, keeping isKept: @escaping (_ path: String, _ line: ArraySlice<UInt8>) -> Bool = { _, _ in true }
    ) {
        self.machine = machine
        self.isKept = isKept
    }

    package func content(of path: String) -> FileContent {
        let content = machine.content(of: path)
        switch content {
        case .bytes(let bytes):
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            contents[path] = Array(lines.filter { isKept(path, $0) }.joined(separator: [UInt8(ascii: "\n")]))
        case .refused: facts["refused \(path)"] = ""
        case .absent: break
        }
        return content
    }

    package func names(in directory: String) -> [String] {
        let names = machine.names(in: directory)
        for name in names { facts["entry \(directory == "/" ? "" : directory)/\(name)"] = "" }
        return names
    }

    package func linkTarget(of path: String) -> String? {
        let target = machine.linkTarget(of: path)
        if let target { facts["link \(path)"] = target }
        return target
    }

    package func text(of fact: MachineFact) -> String? {
        let text = machine.text(of: fact)
        if let text { facts[fact.key] = text }
        return text
    }

    /// Writes what was asked for so far to a directory, which must not exist.
    package func write(to directory: String) throws(SystemError) {
        try MachineRecorder.make(directory)
        for (path, bytes) in contents {
            var place = directory
            for name in path.split(separator: "/").dropLast() {
                place += "/\(name)"
                do throws(SystemError) { try MachineRecorder.make(place) } catch {
                    guard error.errno == EEXIST else { throw error }
                }
            }
            try MachineRecorder.write(bytes, to: directory + path)
        }
        let lines = facts.sorted { $0.key < $1.key }.map { FactLine(key: $0.key, value: $0.value).text }
        try MachineRecorder.write(Array(lines.joined().utf8), to: "\(directory)/facts")
    }

    private static func make(_ directory: String) throws(SystemError) {
        guard unsafe mkdir(directory, 0o700) == 0 else { throw SystemError(operation: "mkdir \(directory)", errno: errno) }
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError(operation: "open \(path)", errno: errno) }
        defer { _ = close(descriptor) }
        guard SystemFiles.write(bytes, to: descriptor) else { throw SystemError(operation: "write \(path)", errno: errno) }
    }
}
