import CollarDoctor
import CollarReceiver
import Glibc
import SerialDevices

/// Recorded machines that doctor examines: those of the tests. A part is a path in the directory, a line feed, and the content.
struct MachineBorder: Border {
    let name = "machines"
    let isSlow = true
    let seeds: [Input]
    private let scratch = Scratch()
    private let paths: Set<String>

    init() {
        let machines = (unsafe getenv("COLLAR_LINK_BORDERS_ROOT").map { unsafe String(cString: $0) } ?? ".") + "/Tests/Machines"
        let recorded = Scratch.names(in: machines).map { MachineBorder.parts(in: "\(machines)/\($0)", "") }.filter { !$0.isEmpty }
        // The time matters where errors were reported, and is a fact of the base.
        let reporting = recorded.filter { parts in parts.contains { MachineBorder.path(of: $0)?.hasSuffix(".jsonl") == true } }
        seeds = reporting.map { parts in
            parts.map { MachineBorder.path(of: $0) == "/facts" ? $0 + Array("\ntime = 1795567200000\n".utf8) : $0 }
        } + recorded
        paths = Set(seeds.joined().compactMap { MachineBorder.path(of: $0) })
        unsafe _ = symlink("\(machines)/sound", scratch.path + "/sound")
    }

    /// The files below a directory, each as a part.
    private static func parts(in directory: String, _ below: String) -> Input {
        Scratch.names(in: directory + below).flatMap { name -> Input in
            let path = "\(below)/\(name)"
            let inside = parts(in: directory, path)
            if !inside.isEmpty || path == "/expected" { return inside }
            return Scratch.content(of: directory + path).map { [Array("\(path)\n".utf8) + $0] } ?? []
        }
    }

    private static func path(of part: [UInt8]) -> String? {
        part.firstIndex(of: UInt8(ascii: "\n")).map { String(decoding: part[..<$0], as: UTF8.self) }
    }

    /// Most digits of a machine are in paths.
    func isNumber(after before: [UInt8]) -> Bool {
        let names = ["/", "link ", "entry ", "absent ", "refused ", "user-name ", "group-name ", "version ", "#", "process "]
        if names.contains(where: { before.starts(with: $0.utf8) }) { return false }
        let isFact = ["status ", "access ", "space ", "holder "].contains { before.starts(with: $0.utf8) }
        return !isFact || before.contains(UInt8(ascii: "="))
    }

    func run(_ input: Input) {
        scratch.withDirectory("m") { directory in
            for part in input {
                guard let path = MachineBorder.path(of: part), paths.contains(path) else { continue }
                scratch.makeParents(of: directory + path)
                scratch.write(Array(part.dropFirst(path.utf8.count + 1)), to: directory + path)
            }
            do throws(RecordedMachine.LoadError) {
                let diagnosis = Doctor.diagnosis(of: try RecordedMachine(directory: directory))
                _ = diagnosis.text
                _ = diagnosis.line
                for finding in diagnosis.findings { _ = finding.line }
            } catch {}
        }
    }
}
