import Testing

@testable import CollarErrors

struct SuggestionTests {
    @Test(arguments: [
        ("histroy", "history"), ("devcies", "devices"), ("simulat", "simulate"), ("HISTORY", "history"), ("dup", nil), ("x", nil),
        ("his", "history"), ("de", nil), ("frobnicate", nil), ("", nil),
    ])
    func commands(word: String, nearest: String?) {
        #expect(Suggestion.nearest(to: word, among: ["run", "history", "devices", "deliver", "decode", "simulate"]) == nearest)
    }

    @Test func optionsWithoutTheirHyphens() {
        let options = ["--port", "--events", "--state-dir", "--keep", "--keep-at-most"]
        #expect(Suggestion.nearest(to: "--event", among: options) == "--events")
        #expect(Suggestion.nearest(to: "--state", among: options) == "--state-dir")
        #expect(Suggestion.nearest(to: "--kepe", among: options) == "--keep")
        // One letter is as near to any other.
        #expect(Suggestion.nearest(to: "-x", among: options + ["-v"]) == nil)
    }

    @Test func ofEquallyNearWordsTheFirst() {
        #expect(Suggestion.nearest(to: "EU8688", among: ["EU868", "EU433"]) == "EU868")
        #expect(Suggestion.nearest(to: "lost", among: ["last", "list"]) == "last")
    }

    @Test func beginningsAreUsedOnlyIfOneWordHasThem() {
        #expect(Suggestion.nearest(to: "sta", among: ["stats", "status"]) == nil)
        #expect(Suggestion.nearest(to: "sta", among: ["stats", "link"]) == "stats")
    }

    @Test(arguments: [
        ("", "abc", 3), ("abc", "", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("abc", "ac", 1), ("abc", "abxc", 1), ("abc", "xyz", 3),
        // Letters that were swapped are not changed again.
        ("ca", "abc", 3),
    ])
    func distances(first: String, second: String, distance: Int) {
        #expect(Suggestion.distance(from: Array(first.utf8), to: Array(second.utf8)) == distance)
        #expect(Suggestion.distance(from: Array(second.utf8), to: Array(first.utf8)) == distance)
    }

    @Test func texts() {
        #expect(Suggestion.text(for: "lnik", among: ["link"]) == " Did you mean link?")
        #expect(Suggestion.text(for: "lnik", among: ["stats"]) == "")
        #expect(Suggestion.text(for: "--lnik", among: ["--link"], quote: "`") == " Did you mean `--link`?")
        #expect(Suggestion.text(forVerb: nil, among: ["add"]) == "")
        #expect(Suggestion.text(forVerb: "add", among: ["add"]) == "")
        #expect(Suggestion.text(forVerb: "ad", among: ["remove", "add"]) == "")
        #expect(Suggestion.text(forVerb: "remov", among: ["remove", "add"]) == " Did you mean `remove`?")
    }
}
