import SerialDevices

/// Whether another program has a port open.
enum HolderCheck {
    static func findings(_ examination: Examination) -> [Finding] {
        examination.ports.compactMap { port in
            guard examination.isTerminal(port), let holder = examination.machine.holder(of: port.node),
                holder.processID != examination.receiverProcessID
            else { return nil }
            return .inUse(port.path, by: holder)
        }
    }
}
