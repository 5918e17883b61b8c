/// How long a target is fuzzed.
enum Limit {
    case seconds(Double)
    case executions(UInt64)
}
