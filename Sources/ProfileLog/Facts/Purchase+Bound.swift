extension Purchase {
    /// The largest revenue of one purchase, in whichever currency: no sum of them is too large for a double.
    private static let largestRevenue = 1e15

    /// Whether `price` for each of `quantity` pieces is a revenue that can be added up.
    package static func holdsRevenue(_ price: Double, times quantity: UInt32) -> Bool {
        abs(price * Double(quantity)) <= largestRevenue
    }
}
