extension PositionStep {
    /// Selects the step of a fix's position by its horizontal accuracy: 1e-7° below 0.1 m, 1e-6° below 1 m, else 1e-5°. An
    /// accuracy of 0 or less counts as unknown and selects 1e-5°, because GNSS receivers report 0 for an unknown accuracy.
    ///
    /// Source of the limits: section 5 of PROTOCOL.md.
    /// - Parameters:
    ///   - accuracy: the horizontal accuracy in millimetres. It may have a fraction, which counts.
    ///   - previousStep: the step of the fix before; nil for none. A finer step is kept up to 1.2 times its limit, as each change
    ///     of the step costs about half a byte.
    ///   - coarsest: the result is never coarser than this step.
    public init<Millimeters: Comparable & ExpressibleByIntegerLiteral>(
        forHorizontalAccuracyMillimeters accuracy: Millimeters, previousStep: PositionStep?, coarsest: PositionStep = .e5
    ) {
        if coarsest == .e7 || accuracy > 0 && (accuracy < 100 || previousStep == .e7 && accuracy <= 120) {
            self = .e7
        } else if coarsest == .e6
            || accuracy > 0 && (accuracy < 1000 || previousStep != nil && previousStep != .e5 && accuracy <= 1200)
        {
            self = .e6
        } else {
            self = .e5
        }
    }
}
