internal import CMalloc

/// What the service tells the C library about memory.
enum Memory {
    /// Buffers from this size on, in bytes, are maps of their own, and go back to the system as soon as they are free.
    private static let mapped: Int32 = 256 << 10

    /// Left to itself, glibc raises that size to the largest buffer that was ever freed, up to 32 MB (`mallopt`, `M_MMAP_THRESHOLD`): the
    /// tables of the index's tail then stay behind as holes in the heaps of all threads, which grow for as long as there is load.
    static func giveBackLargeBuffers() {
        #if canImport(Glibc)
            mallopt(M_MMAP_THRESHOLD, mapped)
        #endif
    }
}
