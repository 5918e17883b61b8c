import SerialDevices

/// Whether events of devices arrive: they are messages of the network, and reach the first network namespace only.
enum NetworkNamespaceCheck {
    static func findings(_ examination: Examination) -> [Finding] {
        guard let evidence = evidence(examination) else { return [] }
        return [.networkNamespace(evidence: evidence, isContainer: examination.containerMark != nil)]
    }

    private static func evidence(_ examination: Examination) -> Finding.Evidence? {
        let machine = examination.machine
        let (ownPath, firstPath) = ("/proc/self/ns/net", "/proc/1/ns/net")
        guard let own = machine.linkTarget(of: ownPath) else { return nil }
        if let first = machine.linkTarget(of: firstPath), first != own {
            return Finding.Evidence(ownPath, "\(own); \(firstPath): \(first)")
        }
        // The mount of /sys shows the interfaces of the namespace in which it was made.
        let shown = Set(machine.names(in: "/sys/class/net"))
        let owned = Set(
            (machine.contentText(of: "/proc/net/dev") ?? "").split(separator: "\n").compactMap { line -> String? in
                guard let colon = line.firstIndex(of: ":") else { return nil }
                return String(line[..<colon].drop { $0 == " " })
            })
        if shown.contains("lo"), owned.contains("lo"), !shown.subtracting(owned).subtracting(virtual(machine, shown)).isEmpty {
            return Finding.Evidence(
                "/proc/net/dev", "\(owned.sorted().joined(separator: " ")); /sys/class/net: \(shown.sorted().joined(separator: " "))")
        }
        return nil
    }

    /// The names that are files of the bonding driver, not interfaces.
    private static func virtual(_ machine: any MachineFacts, _ names: Set<String>) -> Set<String> {
        names.filter { machine.linkTarget(of: "/sys/class/net/\($0)") == nil }
    }
}
