import CollarConfiguration

/// A page of the manual, in the macros of groff_man(7).
struct ManualPage {
    private(set) var text: String
    /// Whether the last line is a heading, after which a paragraph needs no mark.
    private var isAtHeading = false

    /// - Parameters:
    ///   - name: the name of the page, such as `collar-link-run`.
    ///   - section: the section of the manual.
    ///   - title: its purpose in a few words.
    private init(_ name: String, section: Int, title: String) {
        text = ".TH \(Self.escaped(name).uppercased()) \(section) \(VersionCommand.date) \"collar-link \(VersionCommand.version)\" CollarLink\n"
        begin("NAME")
        text += "\(Self.escaped(name)) \\- \(Self.escaped(title))\n"
    }

    // MARK: Pages

    /// The page of a command.
    init(_ command: CommandSpec) {
        self.init("collar-link-\(command.name)", section: 1, title: command.title)
        begin("SYNOPSIS")
        addLiteral(command.synopsis.split(separator: "\n"))
        begin("DESCRIPTION")
        addParagraphs(command.summary)
        begin("OPTIONS")
        add(command.options + CommandSpec.commonOptions)
        addParagraphs(command.notes)
        addReferences(["collar-link(1)", "collar-link.conf(5)", "collar-link-lines(5)"])
    }

    /// The page of the tool.
    static func overview() -> ManualPage {
        var page = ManualPage("collar-link", section: 1, title: "receive the positions of GPS collars")
        page.begin("SYNOPSIS")
        page.addLiteral([HelpCommand.synopsis[...]])
        page.begin("DESCRIPTION")
        page.addParagraphs(HelpCommand.summary)
        page.begin("COMMANDS")
        for group in CollarLinkTool.groups {
            page.text += ".SS \(escaped(group.title))\n"
            for command in group.commands {
                page.text += ".TP\n.BR \(escaped("collar-link-\(command.spec.name)")) (1)\n\(escaped(command.spec.title))\n"
            }
        }
        page.begin("ENVIRONMENT")
        page.addDefinitions([
            ("NO_COLOR", "If it is set and not empty, nothing is coloured."),
            ("XDG_STATE_HOME", "The directory with the directory of the journal (default ~/.local/state)."),
            ("XDG_CONFIG_HOME", "The directory with your configuration (default ~/.config)."),
        ])
        page.begin("EXIT STATUS")
        page.addParagraphs("0 means success. The other codes are those of sysexits.h; the page of each command lists its own.")
        page.addReferences(["collar-link.conf(5)", "collar-link-lines(5)"])
        return page
    }

    /// The page of the configuration file.
    static func configuration() -> ManualPage {
        var page = ManualPage("collar-link.conf", section: 5, title: "configuration of collar-link: radio sticks")
        page.begin("SYNOPSIS")
        page.addLiteral(["~/.config/collar-link/config", "/etc/collar-link/config"])
        page.begin("DESCRIPTION")
        page.addParagraphs(
            """
            The files set how `collar-link` uses the radio of a stick. An option of the command line overrides your file, and your file
            overrides the one in /etc. A line is `key = value`, the header of a section, or a comment, which begins with # at the start of
            the line or after a space. Keys before the first section are for every stick. A section is for one stick, named by its
            serial number, its socket as udev names it, its device node, or its address:

              [stick serial=NUMBER]
              [stick id-path=PATH]
              [stick path=/dev/NAME]
              [stick port=tcp://HOST:PORT]

            A wrong line ends `collar-link` with exit status 78, and its message names the file and the line.
            """)
        page.begin("KEYS")
        for option in RadioOption.allCases {
            let spec = option.spec
            page.addDefinitions([("\(option.rawValue) = \(spec.valueName ?? "")", spec.summary)])
        }
        page.begin("EXAMPLES")
        page.addParagraphs(
            """
              region = EU868

              [stick serial=0123456789]
              dialect = kiss
              spreading-factor = 7
            """)
        page.begin("FILES")
        page.addParagraphs(
            """
            The names of animals and places are in ~/.config/collar-link/animals and ~/.config/collar-link/places, and for all users in
            /etc/collar-link. `collar-link name` and `collar-link place` write them.
            """)
        page.addReferences(["collar-link(1)", "collar-link-run(1)", "collar-link-name(1)", "collar-link-place(1)"])
        return page
    }

    /// The page with this name; nil if there is none.
    static func named(_ name: String) -> ManualPage? {
        switch name {
        case "collar-link": overview()
        case "collar-link.conf": configuration()
        default:
            CollarLinkTool.groups.flatMap(\.commands).first { "collar-link-\($0.spec.name)" == name }.map { ManualPage($0.spec) }
        }
    }

    // MARK: Parts

    private mutating func begin(_ heading: String) {
        text += ".SH \"\(Self.escaped(heading))\"\n"
        isAtHeading = true
    }

    private mutating func beginParagraph() {
        if !isAtHeading { text += ".PP\n" }
        isAtHeading = false
    }

    private mutating func add(_ options: [OptionSpec]) {
        isAtHeading = false
        for option in options {
            let names = option.names.map { "\\fB\(Self.escaped($0))\\fR" }.joined(separator: ", ")
            text += ".TP\n\(names)\(option.valueName.map { " \\fI\(Self.escaped($0))\\fR" } ?? "")\n\(Self.formatted(option.summary))\n"
        }
    }

    private mutating func addDefinitions(_ definitions: [(term: String, text: String)]) {
        isAtHeading = false
        for (term, text) in definitions { self.text += ".TP\n.B \(Self.escaped(term))\n\(Self.formatted(text))\n" }
    }

    private mutating func addReferences(_ pages: [String]) {
        begin("SEE ALSO")
        text += pages.map { page in
            let parts = page.split(separator: "(")
            return ".BR \(Self.escaped(String(parts[0]))) (\(parts[1])"
        }.joined(separator: " ,\n") + "\n"
    }

    /// Lines as they are.
    private mutating func addLiteral(_ lines: [Substring]) {
        text += ".nf\n" + lines.map { Self.escaped(String($0)) + "\n" }.joined() + ".fi\n"
    }

    /// The text of a help: headings become sections, and lines that begin with a space stay as they are.
    private mutating func addParagraphs(_ text: String) {
        for block in HelpText.blocks(text) {
            switch block {
            case .heading(let words): begin((words == "exit codes" ? "exit status" : words).uppercased())
            case .paragraph(let words):
                beginParagraph()
                self.text += "\(Self.formatted(words))\n"
            case .literal(let lines):
                var lines = lines[...]
                while lines.first == "" { lines.removeFirst() }
                while lines.last == "" { lines.removeLast() }
                guard !lines.isEmpty else { continue }
                beginParagraph()
                self.text += ".RS 2\n"
                addLiteral(lines.map { $0.dropFirst(2) })
                self.text += ".RE\n"
            }
        }
    }

    // MARK: Escapes

    /// Text with words in backticks, which become bold.
    private static func formatted(_ text: String) -> String {
        var isBold = false
        return text.split(separator: "`", omittingEmptySubsequences: false).map { part in
            defer { isBold.toggle() }
            return isBold ? "\\fB\(escaped(String(part)))\\fR" : escaped(String(part))
        }.joined()
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case ".", "'": result += result.isEmpty ? "\\&\(character)" : "\(character)"
            default: result.append(character)
            }
        }
        return result
    }
}
