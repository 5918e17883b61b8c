/// The output of a host that its caller has not taken yet.
final class HostOutput {
    /// Notices, oldest first.
    private(set) var notices: [HostNotice] = []
    /// Frames for links, oldest first.
    var frames = OutgoingFrames()
    /// Fixes that go out without being read back from a journal.
    var freshEntries = FreshEntries()
    /// Counts since the start.
    var statistics = HostStatistics()
    /// How long fixes and answers take.
    var latencies = LatencyMeter()
    /// The collars that are heard at each port.
    let company = ChannelCompany()

    func report(_ notice: HostNotice) { notices.append(notice) }

    /// Moves the notices to `list`.
    func moveNotices(to list: inout [HostNotice]) {
        list += notices
        notices.removeAll(keepingCapacity: notices.count < 64)
    }
}
