import CollarWire


/// Changes. Each keeps every byte of the file but those that it is about. Nothing changes if one throws.
extension AnimalRegister {
    /// Puts a collar on an animal, which is added if there is none of this name.
    ///
    /// If the animal wears the collar at these times already, the times of that line become these. Otherwise a line is added,
    /// and a deployment of the collar without an end that began before ends where the new one begins, unless that has an end.
    /// - Parameters:
    ///   - begin: when it begins to wear the collar, in milliseconds since 1970; nil for the present time, or for no bound if the
    ///     collar is not in the file yet.
    ///   - end: when it no longer wears it, in milliseconds since 1970; nil for no bound.
    ///   - now: the present time, in milliseconds since 1970.
    /// - Returns: the animal whose deployment ended through this; nil if there is none.
    @discardableResult
    package mutating func put(
        _ deviceID: DeviceID, on name: String, from begin: Int64?, until end: Int64?, now: Int64
    ) throws(AnimalRegisterError) -> String? {
        var ended: String?
        try change { (text) throws(AnimalRegisterError.Problem) in
            try AnimalRegister.checkName(name)
            let wanted = try RegisteredAnimal.Wearing(deviceID, from: begin, until: end)
            let ofCollar = text.wearings(of: deviceID)
            // Without times, it is about the present.
            let times = begin == nil && end == nil ? now..<(now + 1) : wanted.times
            if let own = ofCollar.first(where: { $0.name == name && $0.wearing.times.overlaps(times) })?.wearing {
                let new = try own.with(begin: begin ?? own.beginUnixMilliseconds, end: end ?? own.endUnixMilliseconds)
                try new.checkOverlaps(with: ofCollar.filter { $0.wearing.line != own.line })
                if new != own { text.setValue(new.text, line: own.line) }
                return
            }
            let new = try wanted.with(begin: begin ?? (ofCollar.isEmpty ? nil : now), end: end)
            // With an end, the new one might lie in the middle of the other: a person is to say what is true after it.
            let open = ofCollar.first {
                end == nil && $0.wearing.endUnixMilliseconds == nil && $0.wearing.times.lowerBound < new.times.lowerBound
            }
            try new.checkOverlaps(with: ofCollar.filter { $0.wearing.line != open?.wearing.line })
            if let (wearer, wearing) = open {
                text.setValue(
                    try wearing.with(begin: wearing.beginUnixMilliseconds, end: new.times.lowerBound).text, line: wearing.line)
                ended = wearer
            }
            text.add(.wears, new.text, to: name)
        }
        return ended
    }

    /// Ends the deployment of an animal that has no end yet.
    package mutating func endDeployment(of name: String, at end: Int64) throws(AnimalRegisterError) {
        try change { (text) throws(AnimalRegisterError.Problem) in
            try text.end(try text.animal(name).wearings, at: end)
        }
    }

    /// Ends the deployment of a collar that has no end yet.
    package mutating func endDeployment(of deviceID: DeviceID, at end: Int64) throws(AnimalRegisterError) {
        try change { (text) throws(AnimalRegisterError.Problem) in
            try text.end(text.wearings(of: deviceID).map(\.wearing), at: end)
        }
    }

    package mutating func rename(_ name: String, to newName: String) throws(AnimalRegisterError) {
        try change { (text) throws(AnimalRegisterError.Problem) in
            let animal = try text.animal(name)
            try AnimalRegister.checkName(newName)
            if name == newName { return }
            if let other = text.animals.first(where: { $0.name == newName }) { throw .repeatedAnimal(newName, line: other.line) }
            text.setName(newName, line: animal.line)
        }
    }

    /// Sets the species or the notes of an animal; a nil value stays as it is.
    package mutating func describe(_ name: String, species: String?, notes: String?) throws(AnimalRegisterError) {
        try change { (text) throws(AnimalRegisterError.Problem) in
            let animal = try text.animal(name)
            // Adding the species has not moved the lines before it: a line is added after the last of the animal.
            for case (let key, let value?) in [(AnimalRegister.Key.species, species), (.notes, notes)] {
                try AnimalRegister.check(value, as: key == .species ? .species : .notes)
                if let line = animal.keyLines[key] { text.setValue(value, line: line) } else { text.add(key, value, to: name) }
            }
        }
    }

    /// Removes an animal with its deployments. Comments stay, also those after what is removed.
    package mutating func remove(_ name: String) throws(AnimalRegisterError) {
        try change { (text) throws(AnimalRegisterError.Problem) in
            let animal = try text.animal(name)
            text.removeKeys(from: animal.line, through: animal.lastLine)
        }
    }

    /// Replaces this register by one whose lines `body` has changed.
    private mutating func change(
        _ body: (inout RegisterText) throws(AnimalRegisterError.Problem) -> Void
    ) throws(AnimalRegisterError) {
        var text = RegisterText(lines: lines, animals: animals)
        do throws(AnimalRegisterError.Problem) {
            try body(&text)
            guard text.byteCount <= AnimalRegister.byteLimit else { throw .tooLong(byteLimit: AnimalRegister.byteLimit) }
        } catch { throw AnimalRegisterError(error, line: nil) }
        self = try AnimalRegister(lines: text.lines)
    }
}

extension RegisteredAnimal.Wearing {
    /// The same collar at other times.
    fileprivate func with(begin: Int64?, end: Int64?) throws(AnimalRegisterError.Problem) -> Self {
        var other = try Self(deviceID, from: begin, until: end)
        other.line = line
        return other
    }

    fileprivate func checkOverlaps(
        with others: [(name: String, wearing: RegisteredAnimal.Wearing)]
    ) throws(AnimalRegisterError.Problem) {
        guard let (wearer, other) = others.first(where: { $0.wearing.times.overlaps(times) }) else { return }
        throw .worn(deviceID: deviceID, by: wearer, line: other.line)
    }
}

/// The lines of an animals file while it is changed. Lines are named by their numbers, from 1.
private struct RegisterText {
    private(set) var lines: [String]
    /// The animals of the file before the change.
    private(set) var animals: [RegisteredAnimal]

    var byteCount: Int { lines.reduce(lines.count - 1) { $0 + $1.utf8.count } }

    func animal(_ name: String) throws(AnimalRegisterError.Problem) -> RegisteredAnimal {
        guard let animal = animals.first(where: { $0.name == name }) else { throw .unknownAnimal(name) }
        return animal
    }

    /// The deployments of a collar with their wearers, in the order of the file.
    func wearings(of deviceID: DeviceID) -> [(name: String, wearing: RegisteredAnimal.Wearing)] {
        animals.flatMap { animal in animal.wearings.filter { $0.deviceID == deviceID }.map { (animal.name, $0) } }
    }

    /// Ends the one of these deployments that has no end.
    mutating func end(_ wearings: [RegisteredAnimal.Wearing], at end: Int64) throws(AnimalRegisterError.Problem) {
        let open = wearings.filter { $0.endUnixMilliseconds == nil }
        guard let wearing = open.first else { throw .nothingToEnd }
        guard open.count == 1 else { throw .severalCollars(open.map(\.deviceID)) }
        setValue(try wearing.with(begin: wearing.beginUnixMilliseconds, end: end).text, line: wearing.line)
    }
    /// Replaces the value in a line `key = value`.
    mutating func setValue(_ text: String, line number: Int) {
        replace(ConfigurationLine.assignment(ConfigurationLine.words(of: lines[number - 1]))?.value, by: text, line: number)
    }

    /// Replaces the name in a line `[animal NAME]`.
    mutating func setName(_ name: String, line number: Int) {
        replace(AnimalRegister.name(inHeader: ConfigurationLine.words(of: lines[number - 1])), by: name, line: number)
    }

    private mutating func replace(_ part: Substring?, by text: String, line number: Int) {
        guard let part else { return }
        lines[number - 1].replaceSubrange(part.startIndex..<part.endIndex, with: text)
    }

    /// Adds a key after the last one of an animal, indented as that one. An animal that is not there yet is added at the end.
    mutating func add(_ key: AnimalRegister.Key, _ value: String, to name: String) {
        let assignment = "\(key.rawValue) = \(value)"
        guard let index = animals.firstIndex(where: { $0.name == name }) else {
            return append(["[animal \(name)]", assignment])
        }
        let last = animals[index].lastLine
        let indent = last == animals[index].line ? "" : String(lines[last - 1].prefix(while: \.isSpaceOrTab))
        // The line before may be the last one of the file, without a line feed: then the new line has none either.
        let ending = lines[last - 1].last == "\r" ? "\r" : ""
        lines.insert(indent + assignment + ending, at: last)
        animals[index].lastLine += 1
    }

    /// Appends lines, after a blank line if the file has lines.
    private mutating func append(_ new: [String]) {
        let ending = lines[0].last == "\r" ? "\r" : ""
        if lines.last == "" { lines.removeLast() } else { lines[lines.count - 1] += ending }
        if let last = lines.last, !last.allSatisfy(\.isWhitespace) { lines.append(ending) }
        lines += new.map { $0 + ending } + [""]
    }

    /// Removes the header and the keys from one line to another. Where such a line has a comment, the comment stays.
    mutating func removeKeys(from first: Int, through last: Int) {
        var kept: [String] = []
        for line in lines[(first - 1)..<last] {
            let words = ConfigurationLine.words(of: line)
            guard !words.isEmpty else {
                kept.append(line)
                continue
            }
            let comment = line[words.endIndex...].drop(while: \.isSpaceOrTab)
            if comment.hasPrefix("#") { kept.append(String(comment)) }
        }
        lines.replaceSubrange((first - 1)..<last, with: kept)
    }
}
