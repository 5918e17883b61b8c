/// The limit to the fuzzing of a target.
enum Limit {
    case seconds(Double)
    case executions(UInt64)
}
