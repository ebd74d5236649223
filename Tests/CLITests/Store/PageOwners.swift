import Foundation

/// The table of each page of a store's file, by the trees that LMDB keeps in it. What is free belongs to none.
struct PageOwners {
    static let pageBytes = 4_096
    /// The tree of tables, and LMDB's list of free pages.
    static let (tables, freePages) = ("tables", "free pages")

    private let file: Data
    private(set) var owners: [Int: String] = [:]

    init(_ file: Data) {
        self.file = Data(file)
        // Two pages take turns to say where everything is: after 16 bytes of header and 24 of constants, each has the
        // roots of two trees, the last page, and the number of the commit.
        let newest = number(144, as: UInt64.self) > number(Self.pageBytes + 144, as: UInt64.self) ? 0 : Self.pageBytes
        walk(root(at: newest + 40), Self.freePages)
        walk(root(at: newest + 88), Self.tables)
    }

    /// The pages of `table`, ascending.
    func pages(of table: String) -> [Int] { owners.filter { $0.value == table }.keys.sorted() }

    private func number<Value: FixedWidthInteger>(_ offset: Int, as type: Value.Type) -> Value {
        file.withUnsafeBytes { Value(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Value.self)) }
    }

    /// The first page of the tree that is described at `offset`; nil if it is empty.
    private func root(at offset: Int) -> Int? { Int(exactly: number(offset + 40, as: UInt64.self)) }

    private mutating func walk(_ page: Int?, _ table: String) {
        guard let page else { return }
        owners[page] = table
        let begin = page * Self.pageBytes
        let isBranch = number(begin + 10, as: UInt16.self) & 1 == 1
        let nodes = (Int(number(begin + 12, as: UInt16.self)) - 16) / 2
        for node in 0..<nodes { visit(begin + Int(number(begin + 16 + 2 * node, as: UInt16.self)), isBranch, table) }
    }

    private mutating func visit(_ node: Int, _ isBranch: Bool, _ table: String) {
        let (size, flags) = (Int(number(node, as: UInt32.self)), Int(number(node + 4, as: UInt16.self)))
        if isBranch { return walk(size | flags << 32, table) }
        let keyBytes = Int(number(node + 6, as: UInt16.self))
        let data = node + 8 + keyBytes
        if flags & 2 != 0 {  // another tree
            walk(root(at: data), String(decoding: file[node + 8..<data], as: UTF8.self))
        } else if flags & 1 != 0 {  // pages of its own
            let first = Int(number(data, as: UInt64.self))
            for page in first...(first + (size + 15) / Self.pageBytes) { owners[page] = table }
        }
    }
}
