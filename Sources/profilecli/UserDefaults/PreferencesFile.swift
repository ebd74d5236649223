internal import ProfileLog

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// An app group's preferences file, `Library/Preferences/group….plist`, as it lies on the disk.
struct PreferencesFile {
    /// No app's preferences are nearly as large.
    private static let mostBytes = 64 << 20

    let path: String
    /// Its top level.
    let members: [Name: PropertyList]
    /// Tells the content from every other's.
    let fingerprint: String

    /// The last part of the path.
    var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    /// Reads the file at `path`.
    init(path: String) throws {
        self.path = path
        let bytes = try Self.read(path)
        fingerprint = Self.fingerprint(bytes)
        guard !bytes.isEmpty else {
            throw Failure("The file \(path) is empty.", remedy: "Copy it from the device again.")
        }
        let list: PropertyList
        do throws(PropertyListError) {
            list = try PropertyList(bytes)
        } catch {
            throw Self.failure(path, error)
        }
        guard case .dictionary(let members) = list else {
            throw Failure("The file \(path) holds \(list.type), no dictionary of keys.", remedy: Self.wanted)
        }
        self.members = members
    }

    private static let wanted =
        "Name an app group's preferences, which a device keeps as Library/Preferences/APP_GROUP.plist."

    private static func failure(_ path: String, _ error: PropertyListError) -> Failure {
        switch error {
        case .foreign:
            Failure("The file \(path) is no property list, neither binary nor XML.", remedy: wanted)
        case .damaged(let format):
            Failure(
                "The file \(path) is \(format) that was cut short or is damaged.",
                remedy: "Copy it from the device again.")
        }
    }

    private static func read(_ path: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path, errno) }
        defer { close(descriptor) }
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            throw Failure("\(path) is a folder.", remedy: wanted)
        }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = block.withUnsafeMutableBytes { systemRead(descriptor, $0) }
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw unreadable(path, errno) }
            if count == 0 { return bytes }
            bytes += block[..<count]
            guard bytes.count <= mostBytes else {
                throw Failure("The file \(path) has more than \(mostBytes >> 20) MiB.", remedy: wanted)
            }
        }
    }

    private static func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
        #if canImport(Darwin)
            Darwin.read(descriptor, buffer.baseAddress, buffer.count)
        #else
            Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        #endif
    }

    private static func unreadable(_ path: String, _ code: Int32) -> Failure {
        Failure(
            "The file \(path) cannot be read: \(String(cString: strerror(code))).",
            remedy: "Check the path and the permissions. \(wanted)")
    }

    /// FNV-1a of 128 bits, in hexadecimal digits: the file is no adversary, it must only be known again.
    private static func fingerprint(_ bytes: [UInt8]) -> String {
        let prime = UInt128(1) << 88 | 0x13B
        var hash: UInt128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D
        for byte in bytes { hash = (hash ^ UInt128(byte)) &* prime }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }
}
