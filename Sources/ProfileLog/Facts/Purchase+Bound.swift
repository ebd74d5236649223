extension Purchase {
    /// The largest revenue of one purchase, in any currency, so that sums fit into a double.
    private static let largestRevenue = 1e15

    /// Whether `price` times `quantity` is small enough to be added up.
    package static func holdsRevenue(_ price: Double, times quantity: UInt32) -> Bool {
        abs(price * Double(quantity)) <= largestRevenue
    }
}
