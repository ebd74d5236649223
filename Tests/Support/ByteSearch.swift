internal import CSpawn

extension String {
    /// Tells whether the bytes of `part`, which is not empty, are in this text. In a debug build `contains` takes
    /// seconds for the log of a service.
    public func hasBytes(of part: String) -> Bool {
        var (whole, part) = (self, part)
        return whole.withUTF8 { whole in
            part.withUTF8 { part in
                guard let place = whole.baseAddress, let wanted = part.baseAddress else { return false }
                return memmem(place, whole.count, wanted, part.count) != nil
            }
        }
    }
}
