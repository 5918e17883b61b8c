import CollarFormats

extension Finding {
    /// The line of JSON, as `Protocol/schema/finding.schema.json` describes it.
    package var line: [UInt8] {
        var object = JSONLine(type: "finding")
        object.add("code", code.rawValue)
        object.add("severity", code.severity.rawValue)
        if let port { object.add("port", port) }
        object.add("reason", reason)
        object.add("evidence", evidence.map { evidence in
            var object = JSONLine()
            object.add("place", evidence.place)
            object.add("value", evidence.value)
            return object
        })
        object.add("command", command?.text)
        object.add("remedy", remedy)
        return object.line
    }
}

extension Diagnosis {
    /// The line of JSON that follows the findings, as `Protocol/schema/diagnosis.schema.json` describes it.
    package var line: [UInt8] {
        var object = JSONLine(type: "diagnosis")
        object.add("exit", exitCode.rawValue)
        object.add("errors", errorCount)
        object.add("warnings", count(of: .warning))
        object.add("infos", count(of: .info))
        object.add("ports", ports)
        object.add("unexamined", unexamined)
        object.add("version", version)
        object.add("kernel", kernel)
        return object.line
    }

    /// How many findings are errors, critical or not.
    package var errorCount: Int { count(of: .error) + count(of: .critical) }
}
