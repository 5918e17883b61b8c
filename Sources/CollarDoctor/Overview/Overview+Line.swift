import CollarFormats

extension Overview {
    /// The line of JSON, with its line feed, as `Protocol/schema/overview.schema.json` describes it. Fixes, statuses, readers and findings
    /// are the lines of other commands.
    package var line: [UInt8] {
        var object = JSONLine(type: "overview", unixMilliseconds: unixMilliseconds)
        object.add("version", version)
        object.add("state_dir", stateDirectory)
        object.add("receiver", activity.rawValue)
        object.add("uptime_ms", uptimeMilliseconds)
        object.add("radios", radios.map { radio in
            var object = JSONLine()
            object.add("port", radio.port)
            object.add("state", radio.figures?.state.rawValue)
            object.add("dialect", radio.figures?.dialect)
            return object
        })
        object.add("collars", collars.map(\.object))
        object.add("readers", lines: readers.map { $0.line(unixMilliseconds: unixMilliseconds) })
        object.add("problems", lines: problems.map(\.line))
        return object.line
    }
}

extension Overview.Collar {
    fileprivate var object: JSONLine {
        var object = JSONLine()
        object.add(collar: deviceID, name: name)
        if let isReachable { object.add("reachable", isReachable) } else { object.add("reachable", nil as String?) }
        object.add("silent_ms", figures[.silence])
        object.add("missing", missingCount)
        object.add("lost", summary.lostCount)
        object.add("stored", summary.storedCount)
        object.add("battery_drain_pct_per_h", number: drainMilliPercentPerHour.map { MessageDescription.decimal($0, 3) })
        object.add("fix", line: fixLine)
        object.add("status", line: status?.bytes)
        return object
    }
}
