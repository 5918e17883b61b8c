import Glibc
import Testing

@testable import CollarControl

/// The places where the control socket may be: which is tried first, and which failure is told.
@Suite struct SocketPlaceTests {
    private typealias ConnectError = ControlConnection.ConnectError

    private let bench: ControlSocketBench

    init() throws { bench = try ControlSocketBench() }

    private func failure() -> ConnectError? {
        do throws(ConnectError) {
            _ = try bench.connect()
            return nil
        } catch { return error }
    }

    /// Makes a path that no program can use: a symbolic link to itself.
    private func makeLoop(_ path: String) throws { try #require(unsafe symlink(path, path) == 0) }

    @Test func thePlacesAreTheUsersThenTheOwnersThenTheStateDirectory() throws {
        var status = stat()
        try #require(unsafe stat(bench.stateDirectory, &status) == 0)
        let numbers = [UInt64(status.st_dev), UInt64(status.st_ino)].map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        let name = numbers.joined(separator: "-") + ".sock"
        let owners = "/run/user/\(status.st_uid)"
        let state = bench.stateDirectory + "/control.sock"
        func paths(_ runtimeDirectory: String?) -> [String] {
            ControlPlace.all(stateDirectory: bench.stateDirectory, runtimeDirectory: runtimeDirectory).map(\.path)
        }
        #expect(paths("/r") == ["/r/collar-link/\(name)", "\(owners)/collar-link/\(name)", state])
        #expect(paths(nil) == ["\(owners)/collar-link/\(name)", state])
        #expect(paths("relative") == paths(nil))
        #expect(paths(owners) == paths(nil), "a place is tried once")
        #expect(ControlPlace.all(stateDirectory: bench.folder + "/none", runtimeDirectory: "/r").isEmpty)
    }

    @Test func theFolderOfASocketIsMadeForItsUserOnly() throws {
        let place = try #require(bench.places.first)
        for _ in 0..<2 { #expect(place.prepare()) }
        var status = stat()
        try #require(unsafe stat(bench.runtimeDirectory + "/collar-link", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o700)
        #expect(try #require(bench.places.last).prepare())
    }

    @Test func aFolderIsNotMadeInARuntimeDirectoryThatIsNone() throws {
        for runtime in [bench.folder + "/none", "/dev/null"] {
            let place = ControlPlace.all(stateDirectory: bench.stateDirectory, runtimeDirectory: runtime).first
            #expect(try #require(place).prepare() == false)
        }
    }

    @Test(arguments: [false, true]) func aReceiverIsFoundInEitherPlace(isInState: Bool) throws {
        let listener = try bench.listen(at: try bench.path(inState: isInState))
        let connection = try bench.connect()
        try bench.write("line\n", to: try bench.accept(listener))
        #expect(connection.nextLine(untilMicroseconds: ControlSocketBench.farAway) == .line(Array("line".utf8)))
    }

    @Test func theFirstPlaceGoesBeforeTheLast() throws {
        let first = try bench.listen(at: try bench.path(inState: false))
        _ = try bench.listen(at: try bench.path(inState: true))
        let connection = try bench.connect()
        try bench.write("first\n", to: try bench.accept(first))
        #expect(connection.nextLine(untilMicroseconds: ControlSocketBench.farAway) == .line(Array("first".utf8)))
    }

    @Test func noSocketMeansNoReceiver() throws {
        #expect(failure() == .absent)
        _ = try bench.path(inState: false)
        #expect(failure() == .absent)
    }

    @Test func aStateDirectoryThatIsNoneHasNoReceiver() {
        #expect(throws: ConnectError.absent) {
            try ControlConnection(stateDirectory: bench.folder + "/none", runtimeDirectory: nil, patience: 0)
        }
    }

    @Test(arguments: [[false], [true], [false, true]]) func aSocketThatWasLeftIsTold(places: [Bool]) throws {
        for isInState in places { try bench.desert(try bench.path(inState: isInState)) }
        #expect(failure() == .deserted)
    }

    @Test func aPlaceWhosePathIsTooLongHidesNothing() throws {
        func failure() -> ConnectError? {
            do throws(ConnectError) {
                let long = "/" + String(repeating: "r", count: 100)
                _ = try ControlConnection(stateDirectory: bench.stateDirectory, runtimeDirectory: long, patience: 0)
                return nil
            } catch { return error }
        }
        #expect(failure() == .absent)
        try bench.desert(try bench.path(inState: true))
        #expect(failure() == .deserted)
    }

    @Test func aSocketThatWasLeftDoesNotHideAReceiver() throws {
        try bench.desert(try bench.path(inState: false))
        let listener = try bench.listen(at: try bench.path(inState: true))
        let connection = try bench.connect()
        bench.closeNow(try bench.accept(listener))
        #expect(connection.nextLine(untilMicroseconds: ControlSocketBench.farAway) == .closed)
    }

    @Test func anErrorOfTheSystemIsToldWhateverTheOtherPlacesAre() throws {
        let path = try bench.path(inState: false)
        try makeLoop(path)
        #expect(failure() == .system(path: path, errorNumber: ELOOP))
        try bench.desert(try bench.path(inState: true))
        #expect(failure() == .system(path: path, errorNumber: ELOOP))
    }

    @Test func anErrorOfALaterPlaceIsToldToo() throws {
        try bench.desert(try bench.path(inState: false))
        let path = try bench.path(inState: true)
        try makeLoop(path)
        #expect(failure() == .system(path: path, errorNumber: ELOOP))
    }

    @Test(.enabled(if: geteuid() != 0, "root may connect to every socket"), arguments: [false, true])
    func aSocketOfAnotherUserIsToldWhateverTheOtherPlacesAre(isInState: Bool) throws {
        let path = try bench.path(inState: isInState)
        _ = try bench.listen(at: path)
        try #require(unsafe chmod(path, 0) == 0)
        #expect(failure() == .denied(path: path))
        try bench.desert(try bench.path(inState: !isInState))
        #expect(failure() == .denied(path: path))
    }

    /// A program that does not want to wait is told that too many others connect.
    @Test func tooManyProgramsConnect() throws {
        let path = try bench.path(inState: true)
        let listener = try bench.listen(at: path, backlog: 0)
        var connections: [ControlConnection] = []
        while connections.count < 10 {
            do throws(ConnectError) { connections.append(try bench.connect()) } catch {
                #expect(error == .system(path: path, errorNumber: EAGAIN))
                break
            }
        }
        #expect((1..<10).contains(connections.count))
        _ = try bench.accept(listener)
        #expect(failure() == nil)
    }
}
