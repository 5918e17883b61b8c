
import CollarJournal

/// Lines of JSON for fixes, messages and gaps.
struct JSONWriter: FormatWriter {
    private var lines: FixLineWriter
    private var deployments: DeploymentTable

    init(_ lines: FixLineWriter, _ deployments: DeploymentTable) {
        self.lines = lines
        self.deployments = deployments
    }

    mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) { lines.append(received, to: &bytes) }

    mutating func append(_ message: JournaledMessage, deviceID: UInt64, to bytes: inout [UInt8]) {
        let wearer = deployments.wearer(of: deviceID, at: message.unixMilliseconds)
        bytes += message.line(deviceID: deviceID, name: wearer?.name)
    }

    mutating func append(_ change: GapChange, deviceID: UInt64, to bytes: inout [UInt8]) {
        let wearer = deployments.wearer(of: deviceID, at: change.unixMilliseconds)
        bytes += change.line(deviceID: deviceID, name: wearer?.name)
    }

    mutating func setDeployments(_ deployments: DeploymentTable) {
        self.deployments = deployments
        lines.setDeployments(deployments)
    }
}
