extension RandomAccessCollection {
    /// The index of the first element that does not come before what is looked for; `endIndex` if all do. The elements
    /// are in ascending order, so it costs the logarithm of their number.
    @inlinable
    @inline(__always)
    package func lowerBound(_ isBefore: (Element) -> Bool) -> Index {
        var (low, count) = (startIndex, count)
        // The processor loads ahead of a walk, and waits for each step of a binary search.
        while count > 16 {
            let middle = index(low, offsetBy: count / 2)
            if isBefore(self[middle]) {
                low = index(after: middle)
                count -= count / 2 + 1
            } else {
                count /= 2
            }
        }
        while count > 0, isBefore(self[low]) {
            low = index(after: low)
            count -= 1
        }
        return low
    }
}

extension Array {
    /// The union with `others` in one pass. Both lists are in ascending order of their keys, each key once. `both`
    /// gives the element for a key that both have, `fresh` the one for a key that only `others` has.
    @inlinable
    package func ascendingUnion<Other, Key: Comparable>(
        _ others: [Other], key: (Element) -> Key, otherKey: (Other) -> Key, both: (Element, Other) -> Element,
        fresh: (Other) -> Element
    ) -> [Element] {
        var union: [Element] = []
        union.reserveCapacity(count + others.count)
        var next = startIndex
        for other in others {
            let wanted = otherKey(other)
            while next < endIndex, key(self[next]) < wanted {
                union.append(self[next])
                next += 1
            }
            if next < endIndex, key(self[next]) == wanted {
                union.append(both(self[next], other))
                next += 1
            } else {
                union.append(fresh(other))
            }
        }
        union += self[next...]
        return union
    }
}

extension [AttributeValue.Member] {
    /// The value of the member `key`; nil if there is none. Many members must be in ascending order of their keys.
    package func value(of key: Name) -> AttributeValue? {
        if count <= 16 { return first { $0.key == key }?.value }
        let index = lowerBound { $0.key < key }
        return index < count && self[index].key == key ? self[index].value : nil
    }

    /// The members in ascending order of their keys.
    @inlinable
    package var ascending: [AttributeValue.Member] {
        let members = span
        var index = 1
        while index < members.count, members[index - 1].key < members[index].key { index += 1 }
        return index >= members.count ? self : sorted { $0.key < $1.key }
    }
}
