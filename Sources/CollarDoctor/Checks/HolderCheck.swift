import SerialDevices

/// Whether another program has a port open.
package enum HolderCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        examination.ports.compactMap { port in
            guard examination.isTerminal(port), let holder = examination.machine.holder(of: port.node),
                holder.processID != examination.receiverProcessID
            else { return nil }
            return .inUse(port.path, by: holder)
        }
    }
}
