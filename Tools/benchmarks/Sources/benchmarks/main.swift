// Runs one benchmark, so that callgrind counts nothing else:
//
//     benchmarks NAME ROUNDS    prints: nanoseconds per element (least, median), elements per round, bytes per element
//     benchmarks                prints the names
//
// Times are processor times, because other programs use the machine as well.
import Glibc

func processorNanoseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

let samples = try Samples()
let names = [
    "copy", "decode", "encode", "open", "batch decode", "batch encode", "line", "frame to line", "JSONEncoder", "JSONDecoder",
]
guard CommandLine.arguments.count == 3, let rounds = Int(CommandLine.arguments[2]), rounds > 0 else {
    names.forEach { print($0) }
    exit(CommandLine.arguments.count == 1 ? 0 : 64)
}
let benchmark: Benchmark
switch CommandLine.arguments[1] {
case "copy": benchmark = samples.copy
case "decode": benchmark = samples.decode
case "encode": benchmark = samples.encode
case "open": benchmark = samples.open
case "batch decode": benchmark = samples.batchDecode
case "batch encode": benchmark = samples.batchEncode
case "line": benchmark = samples.line
case "frame to line": benchmark = samples.decodeToLine
case "JSONEncoder": benchmark = samples.foundationEncode
case "JSONDecoder": benchmark = samples.foundationDecode
default:
    print("no benchmark '\(CommandLine.arguments[1])'")
    exit(64)
}
var times: [Double] = []
var checksum = 0
for _ in 0..<rounds {
    let start = processorNanoseconds()
    checksum &+= benchmark.round()
    times.append(Double(processorNanoseconds() - start) / Double(benchmark.elementCount))
}
times.sort()
// The sum is printed, so that the work is not optimized away.
print(times[0], times[times.count / 2], benchmark.elementCount, benchmark.bytesPerElement, checksum)
