import Testing

@testable import CollarControl

/// The text format of Prometheus.
@Suite struct MetricsTextTests {
    private let fixes = Metric("fixes_total", .counter, "Fixes stored.")
    private let age = Metric("age_seconds", .gauge, fractionDigits: 3, "Age.")

    private func text(_ build: (inout MetricsText) -> Void) -> String {
        var text = MetricsText()
        build(&text)
        return String(decoding: text.bytes, as: UTF8.self)
    }

    @Test func familiesAreGrouped() {
        let text = text {
            $0.add(fixes, 3, [("collar", "a")])
            $0.add(age, 1_500)
            $0.add(fixes, 4, [("collar", "b"), ("name", "Zeus")])
            $0.add(age, nil, [("collar", "c")])
        }
        #expect(
            text == """
                # HELP collar_link_fixes_total Fixes stored.
                # TYPE collar_link_fixes_total counter
                collar_link_fixes_total{collar="a"} 3
                collar_link_fixes_total{collar="b",name="Zeus"} 4
                # HELP collar_link_age_seconds Age.
                # TYPE collar_link_age_seconds gauge
                collar_link_age_seconds 1.500

                """)
    }

    @Test func aFamilyWithoutSamplesIsLeftOut() {
        #expect(text { $0.add(age, nil) } == "")
    }

    @Test func labelsAreEscaped() {
        let text = text { $0.add(fixes, 1, [("name", "A \"b\" \\c\nΖεὺς\t")]) }
        #expect(text.hasSuffix("{name=\"A \\\"b\\\" \\\\c\\nΖεὺς\t\"} 1\n"))
    }

    /// The figures are in milliseconds, the metrics in seconds.
    @Test(arguments: [CollarFigure.airtime, .silence]) func timesOfACollarAreInSeconds(figure: CollarFigure) {
        #expect(text { $0.add(figure.metric, 90_500) }.hasSuffix(" 90.500\n"))
    }

    @Test(arguments: [
        (0, "0.000"), (1, "0.001"), (-1, "-0.001"), (-12_345, "-12.345"), (1_498_266_333_250, "1498266333.250"),
    ] as [(Int64, String)])
    func decimals(_ value: Int64, _ expected: String) {
        #expect(text { $0.add(age, value) }.hasSuffix("\ncollar_link_age_seconds \(expected)\n"))
    }
}
