/// Completions for the commands, options and words of the tool.
enum ShellCompletions: String, CaseIterable {
    case bash, zsh, fish

    private static var commands: [CommandSpec] { CollarLinkTool.groups.flatMap(\.commands).map { $0.spec } }

    var script: String {
        switch self {
        case .bash: Self.bashScript
        case .zsh: Self.zshScript
        case .fish: Self.fishScript
        }
    }

    // MARK: bash

    private static var bashScript: String {
        var values = "", words = ""
        for command in commands {
            for option in command.options where option.valueName != nil {
                let pattern = option.names.map { "\(command.name),\($0)" }.joined(separator: " | ")
                let choices = option.choices.joined(separator: " ")
                let reply =
                    switch (choices.isEmpty, option.isFile) {
                    case (_, true): "_collar_link_files '\(choices)'"
                    case (false, false): "_collar_link_words '\(choices)'"
                    case (true, false): ":"
                    }
                values += "        \(pattern)) \(reply); return ;;\n"
            }
            let names = (command.options + CommandSpec.commonOptions).flatMap(\.names) + command.operandWords
            words += "        \(command.name)) _collar_link_files '\(names.joined(separator: " "))' ;;\n"
        }
        let names = commands.map(\.name).joined(separator: " ")
        return """
            # Completions of collar-link for bash. Made by `collar-link help --completions bash`.

            _collar_link_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }

            # Words, and files where no word fits.
            _collar_link_files() {
                _collar_link_words "$1"
                [[ ${#COMPREPLY[@]} -gt 0 || $current == -* ]] || mapfile -t COMPREPLY < <(compgen -f -- "$current")
                [[ ${#COMPREPLY[@]} -ne 1 || ! -d ${COMPREPLY[0]} ]] || compopt -o filenames -o nospace
            }

            _collar_link() {
                local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=run
                COMPREPLY=()
                if [[ $COMP_CWORD -eq 1 && $current != -* ]]; then
                    _collar_link_words '\(names)'
                    return
                fi
                [[ ${COMP_WORDS[1]} == -* ]] || command=${COMP_WORDS[1]}
                case $command,$previous in
            \(values)    esac
                case $command in
            \(words)    esac
            }

            complete -F _collar_link collar-link

            """
    }

    // MARK: zsh

    private static var zshScript: String {
        var cases = ""
        for command in commands {
            cases += "        \(command.name))\n            _arguments \\\n"
            for option in command.options + CommandSpec.commonOptions {
                let summary = quoted(option.summary, for: ["[", "]", ":"])
                let value = option.valueName.map { ":\(quoted($0, for: ["[", "]", ":"])):\(zshAction(option))" } ?? ""
                let repeated = option.isRepeatable ? "*" : option.names.count > 1 ? "(\(option.names.joined(separator: " ")))" : ""
                for name in option.names { cases += "                '\(repeated)\(name)[\(summary)]\(value)' \\\n" }
            }
            let operands = command.operandWords
            cases += operands.isEmpty ? "                '*: :_files'\n" : "                '*: :(\(operands.joined(separator: " ")))'\n"
            cases += "            ;;\n"
        }
        let names = commands.map { "        '\($0.name):\(quoted($0.title, for: [":"]))'\n" }.joined()
        return """
            #compdef collar-link
            # Completions of collar-link for zsh. Made by `collar-link help --completions zsh`.

            _collar_link() {
                local command=run
                local -a commands
                commands=(
            \(names)    )
                if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then
                    _describe command commands
                    return
                fi
                if [[ $words[2] != -* ]]; then
                    command=$words[2]
                    shift words
                    ((CURRENT--))
                fi
                case $command in
            \(cases)    esac
            }

            _collar_link "$@"

            """
    }

    private static func zshAction(_ option: OptionSpec) -> String {
        let choices = option.choices.isEmpty ? nil : "(\(option.choices.joined(separator: " ")))"
        return option.isFile ? "_files" : choices ?? " "
    }

    // MARK: fish

    private static var fishScript: String {
        let names = commands.map(\.name).joined(separator: " ")
        var script = """
            # Completions of collar-link for fish. Made by `collar-link help --completions fish`.

            complete -c collar-link -f
            set -l commands \(names)

            """
        for command in commands {
            script += "complete -c collar-link -n \"not __fish_seen_subcommand_from $commands\" -a \(command.name) -d '\(quoted(command.title))'\n"
        }
        for command in commands {
            let condition =
                command.name == RunCommand.spec.name
                ? "not __fish_seen_subcommand_from $commands; or __fish_seen_subcommand_from run" : "__fish_seen_subcommand_from \(command.name)"
            let start = "complete -c collar-link -n \"\(condition)\""
            for option in command.options + CommandSpec.commonOptions {
                let flags = option.names.map { $0.hasPrefix("--") ? "-l \($0.dropFirst(2))" : "-s \($0.dropFirst())" }
                var line = "\(start) \(flags.joined(separator: " "))"
                if option.valueName != nil {
                    line += option.isFile ? " -r -F" : " -x"
                    if !option.choices.isEmpty { line += " -a '\(option.choices.joined(separator: " "))'" }
                }
                script += "\(line) -d '\(quoted(option.summary))'\n"
            }
            if !command.operandWords.isEmpty { script += "\(start) -a '\(command.operandWords.joined(separator: " "))'\n" }
            if command.synopsisWords.contains("FILE") { script += "\(start) -F\n" }
        }
        return script
    }

    /// A text within single quotes, with a backslash before some characters.
    private static func quoted(_ text: String, for special: [Character] = []) -> String {
        var result = ""
        for character in text where character != "`" {
            switch character {
            case "'": result += special.isEmpty ? "\\'" : "'\\''"
            case let character where special.contains(character): result += "\\\(character)"
            default: result.append(character)
            }
        }
        return result
    }
}

extension OptionSpec {
    /// The words that its value may be; empty if these are not listed.
    fileprivate var choices: [String] {
        if !words.isEmpty { return words }
        guard let valueName, valueName.contains("|") else { return [] }
        return valueName.split(separator: "|").map(String.init).filter { word in
            word.contains { $0.isLowercase || $0.isNumber } && !word.contains { "/,:@[".contains($0) }
        }
    }

    /// Whether its value may be the path of a file.
    fileprivate var isFile: Bool {
        valueName?.split(separator: "|").contains { ["FILE", "PATH", "DIR", "PORT", "DEVICE"].contains($0) } ?? false
    }
}

extension CommandSpec {
    private static func words(of form: Substring) -> [Substring] { form.split(whereSeparator: { " |[]\n".contains($0) }) }

    fileprivate var synopsisWords: [Substring] { CommandSpec.words(of: synopsis[...]) }

    /// The words in lower case among the operands.
    fileprivate var operandWords: [String] {
        var words: [String] = []
        for form in synopsis.split(separator: "\n") {
            var isOption = false
            for word in CommandSpec.words(of: form).dropFirst(2) {
                defer { isOption = word.hasPrefix("-") }
                let isName = !isOption && word != "options" && word.allSatisfy { $0.isLowercase || $0 == "-" } && !word.hasPrefix("-")
                if isName, !words.contains(String(word)) { words.append(String(word)) }
            }
        }
        return words
    }
}
