/// Draws ranks 0, 1, 2 … with probabilities in the ratio 1 : 1/2 : 1/3 …
///
/// This is Walker's alias table. Each rank has a column of equal width. A rank whose probability does not fill its
/// column lends the rest to a rank whose probability is too large for one column. A draw takes one random number and
/// one lookup.
struct ZipfSampler: Sendable {
    private struct Column {
        /// A draw at or above this fraction of the column, in units of 2^-64, belongs to `other`.
        var limit: UInt64
        var other: UInt32
    }

    private var columns: [Column]

    /// Makes the sampler of ranks below `count`; takes O(count) time and 16 bytes for each.
    init(count: Int) {
        precondition(0 < count && count <= UInt32.max, "a sampler needs between 1 and 2^32 - 1 ranks, not \(count)")
        let total = (1...count).reduce(0.0) { $0 + 1 / Double($1) }
        var fill = (1...count).map { Double(count) / (total * Double($0)) }
        columns = fill.indices.map { Column(limit: .max, other: UInt32($0)) }

        // Probabilities fall from rank to rank: the lenders are at the end, the borrowers at the front. A borrower that
        // has borrowed more than it needs lends the rest of its column to the next rank.
        var borrower = 0
        var lender = count - 1
        while borrower < lender, fill[lender] < 1 {
            lend(lender, filledTo: fill[lender], to: borrower)
            fill[borrower] -= 1 - fill[lender]
            lender -= 1
            while borrower < lender, fill[borrower] < 1 {
                lend(borrower, filledTo: fill[borrower], to: borrower + 1)
                fill[borrower + 1] -= 1 - fill[borrower]
                borrower += 1
            }
        }
    }

    /// Draws a rank.
    @inline(__always)
    func next(using random: inout SeededGenerator) -> Int {
        let (column, fraction) = random.next().multipliedFullWidth(by: UInt64(columns.count))
        let rank = Int(truncatingIfNeeded: column)
        return fraction < columns[rank].limit ? rank : Int(columns[rank].other)
    }

    private mutating func lend(_ rank: Int, filledTo fill: Double, to other: Int) {
        columns[rank] = Column(limit: UInt64(max(0, fill) * 0x1p64), other: UInt32(other))
    }
}
