import Glibc
import Testing

@testable import CollarReceiver

/// The watch of serial ports that come and go.
@Suite struct DeviceWatchTests {
    /// A watch of devices ends with a signal.
    @Test(arguments: [SIGINT, SIGTERM])
    func aSignalEndsTheWatchOfDevices(signal: Int32) throws {
        let watch = try DeviceWatch()
        try #require(raise(signal) == 0)
        #expect(watch.next() == .ended)
    }
}
