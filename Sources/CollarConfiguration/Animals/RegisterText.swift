import CollarFormats

/// The lines of an animals file while it is changed. Lines are named by their numbers, from 1.
package struct RegisterText {
    package private(set) var lines: [String]
    /// The animals of the file before the change.
    package private(set) var animals: [RegisteredAnimal]

    package init(_ lines: [String], _ animals: [RegisteredAnimal]) {
        self.lines = lines
        self.animals = animals
    }

    /// The size of the file, in bytes.
    package var byteCount: Int { lines.reduce(lines.count - 1) { $0 + $1.utf8.count } }

    /// The animal with a name.
    package func animal(_ name: String) throws(AnimalRegisterError.Problem) -> RegisteredAnimal {
        guard let animal = animals.first(where: { $0.name == name }) else { throw .unknownAnimal(name) }
        return animal
    }

    /// Who wears or wore a collar, in the order of the file.
    package func wearings(of deviceID: UInt64) -> [(name: String, wearing: RegisteredAnimal.Wearing)] {
        animals.flatMap { animal in animal.wearings.filter { $0.deviceID == deviceID }.map { (animal.name, $0) } }
    }

    /// Replaces the value in a line `key = value`.
    package mutating func setValue(_ text: String, line number: Int) { replace(assignedValue(number), by: text, line: number) }

    /// Replaces the name in a line `[animal NAME]`.
    package mutating func setName(_ name: String, line number: Int) { replace(headerName(number), by: name, line: number) }

    private mutating func replace(_ part: Substring?, by text: String, line number: Int) {
        guard let part else { return }
        lines[number - 1].replaceSubrange(part.startIndex..<part.endIndex, with: text)
    }

    private func assignedValue(_ number: Int) -> Substring? {
        ConfigurationLine.assignment(AnimalRegister.words(of: lines[number - 1]))?.value
    }

    private func headerName(_ number: Int) -> Substring? {
        AnimalRegister.name(inHeader: AnimalRegister.words(of: lines[number - 1]))
    }

    /// Adds a key behind the last one of an animal, indented as that one. An animal that is not there yet is added at the end.
    package mutating func add(_ key: AnimalRegister.Key, _ value: String, to name: String) {
        let assignment = "\(key.rawValue) = \(value)"
        guard let index = animals.firstIndex(where: { $0.name == name }) else {
            return append(["[animal \(name)]", assignment])
        }
        let last = animals[index].lastLine
        let indent = last == animals[index].line ? "" : String(lines[last - 1].prefix(while: \.isSpaceOrTab))
        insert(indent + assignment, behind: last)
        animals[index].lastLine += 1
    }

    private mutating func insert(_ line: String, behind number: Int) {
        // The line before may be the last one of the file, without a line feed: then the new line has none either.
        let ending = lines[number - 1].last == "\r" ? "\r" : ""
        lines.insert(line + ending, at: number)
    }

    /// Appends lines, behind a blank line if the file has lines.
    private mutating func append(_ new: [String]) {
        let ending = lines[0].last == "\r" ? "\r" : ""
        if lines.last == "" { lines.removeLast() } else { lines[lines.count - 1] += ending }
        if let last = lines.last, !last.allSatisfy(\.isWhitespace) { lines.append(ending) }
        lines += new.map { $0 + ending } + [""]
    }

    /// Removes the header and the keys from one line to another. Where such a line has a comment, the comment stays.
    package mutating func removeKeys(from first: Int, through last: Int) {
        var kept: [String] = []
        for line in lines[(first - 1)..<last] {
            let words = AnimalRegister.words(of: line)
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
