import CollarARQ

extension HostRequest {
    /// The verb of the request in lines of requests and results.
    package var verb: String {
        switch self {
        case .command(.startTracking): "track_on"
        case .command(.stopTracking): "track_off"
        case .command(.locateNow): "locate"
        case .command(.sound): "sound"
        case .command(.reboot): "reboot"
        case .command(.pair): "pair"
        case .command(.unpair): "unpair"
        case .settingsRequest: "get_settings"
        case .settingsUpdate: "set_settings"
        case .message: "message"
        }
    }

    /// The requests that take no argument.
    package static let plain: [HostRequest] = [
        .command(.locateNow), .command(.startTracking), .command(.stopTracking), .command(.reboot),
        .command(.unpair), .settingsRequest,
    ]
}
