import LinuxSystem
import Testing

/// Addresses of radios at other machines.
struct NetworkAddressTests {
    @Test(arguments: [
        ("tcp://barn:4001", "barn", 4001), ("tcp://192.0.2.7:1", "192.0.2.7", 1), ("tcp://barn.example:65535/", "barn.example", 65_535),
        ("tcp://[2001:db8::1]:4001", "2001:db8::1", 4001),
    ] as [(String, String, UInt16)])
    func anAddressHasAHostAndAPort(text: String, host: String, port: UInt16) throws {
        let address = try #require(NetworkAddress(text))
        #expect((address.host, address.port) == (host, port))
    }

    @Test(arguments: [
        "barn:4001", "udp://barn:4001", "tcp://barn", "tcp://:4001", "tcp://barn:", "tcp://barn:0", "tcp://barn:65536", "tcp://barn:-1",
        "tcp://2001:db8::1:4001", "tcp://[]:4001", "tcp://my barn:4001", "tcp://barn/yard:4001", "tcp://me@barn:4001", "tcp://barn:4001/x",
        "",
    ])
    func anythingElseIsNone(text: String) { #expect(NetworkAddress(text) == nil) }

    @Test func anErrorIsNamedInWords() {
        #expect(SystemError(operation: "open /x", errno: 2).text == "open /x: No such file or directory")
        #expect(SystemError(operation: "open /x", errno: 2).message.reason == "The call open /x failed: No such file or directory.")
        #expect(SystemError(operation: "open /x", errno: 2) != SystemError(operation: "open /x", errno: 13))
    }
}
