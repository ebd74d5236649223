extension Int64 {
    /// Below zero, zero or above it, as this is less than, equal to or greater than `double`: exact, so that equality
    /// is transitive. 2⁵³ + 1 is greater than the double 2⁵³, which it would equal as a double.
    package func order(to double: Double) -> Int {
        guard let whole = Int64(exactly: double.rounded(.towardZero)) else { return double > 0 ? -1 : 1 }
        if self != whole { return self < whole ? -1 : 1 }
        let rest = double - Double(whole)
        return rest > 0 ? -1 : rest < 0 ? 1 : 0
    }
}
