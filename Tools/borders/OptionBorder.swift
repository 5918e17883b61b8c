import Glibc

/// Options of the command line: each run starts the program, which `COLLAR_LINK_BINARY` names. The parts are its arguments.
struct OptionBorder: Border {
    let name = "options"
    let isSlow = true
    private let scratch = Scratch()
    private let program = unsafe getenv("COLLAR_LINK_BINARY").map { unsafe String(cString: $0) }

    /// Commands that end by themselves: what they would read or make cannot be there.
    let seeds: [Input] = [
        "run --duration 5 --count 5 --keep 30 --keep-at-most 60 --max-size 100M --read /dev/null/x", "run --since @1763719200 --read /dev/null/x",
        "run --frequency 868.1 --bandwidth 125 --spreading-factor 7 --coding-rate 4/5 --tx-power 14 --read /dev/null/x",
        "run --port tcp://host:4001 --read /dev/null/x", "history --since 2h --state-dir /dev/null/x",
        "history --since 2026-11-21T09:00:00.5+01:00 --state-dir /dev/null/x", "history --since @1763719200 --state-dir /dev/null/x",
        "simulate --walk 60/120/36 --link /dev/null/x",
        "simulate --track /dev/null/x --collars 2 --speed 2.5 --interval 3.5 --noise 3 --battery 25/10 --loss 0.2 --burst 2 --corrupt 0.1 --duty-cycle 1"
            + " --seed 7 --request 60 --button short@5 --stick-fault stall@5",
        "simulate --track /dev/null/x --collars 64 --hidden 0.5 --drift 20 --modem lora:SF7",
        "encode --log-id 7 --device 0123456789abcdef --precision 5 --max-frame 253 --address 3 --batch 64 /dev/null/x", "encode --anchor-lag 3 /dev/null/x",
        "decode --log-id 7 --device 0123456789abcdef /dev/null/x", "send sound 5 --timeout 0.001 --port x --state-dir /dev/null/x",
        "send settings set spreading_factor=7 --timeout 0.001 --port x --state-dir /dev/null/x",
        "send message 7 x --reply-to 12 --timeout 0.001 --port x --state-dir /dev/null/x", "key accept-restart 0123456789abcdef 7 --state-dir /dev/null/x",
        "follow --duration 5 --count 3 --state-dir /dev/null/x", "deliver x --every 5 --batch 100 --state-dir /dev/null/x -- true",
    ].map { $0.split(separator: " ").map { Array($0.utf8) } }

    func run(_ input: Input) {
        guard let program, seeds.contains(where: { seed in OptionBorder.isLike(seed, input) }) else { return }
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe ([Array(program.utf8)] + input).map { word in
            unsafe strdup(String(decoding: word.filter { $0 != 0 }, as: UTF8.self))
        }
        unsafe arguments.append(nil)
        var environment: [UnsafeMutablePointer<CChar>?] = unsafe [strdup("HOME=\(scratch.path)"), strdup("SWIFT_BACKTRACE=enable=no"), nil]
        defer {
            unsafe arguments.forEach { unsafe free($0) }
            unsafe environment.forEach { unsafe free($0) }
        }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe _ = posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for descriptor: Int32 in 1...2 { unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0) }
        var process: pid_t = 0
        guard unsafe posix_spawn(&process, program, &actions, nil, &arguments, &environment) == 0 else { fatalError("\(program) does not start") }
        var status: Int32 = 0
        // A program that goes on has taken its options.
        for wait in 0... {
            if unsafe waitpid(process, &status, WNOHANG) != 0 { break }
            if wait == 20_000 { kill(process, SIGKILL) }
            usleep(100)
        }
        let signal = status & 0x7F
        if signal != 0, signal != SIGKILL { fatalError("the program ended by signal \(signal)") }
    }

    /// Whether an input differs from a seed in words with digits alone: other words make other commands, which may wait for radios.
    private static func isLike(_ seed: Input, _ input: Input) -> Bool {
        seed.count == input.count && zip(seed, input).allSatisfy { $0 == $1 || $0.contains { (0x30...0x39).contains($0) } }
    }
}
