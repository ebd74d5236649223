internal import Foundation
internal import ProfileLog

/// An app group's preferences file, `Library/Preferences/group….plist`.
struct PreferencesFile {
    /// No app's preferences are that large.
    private static let mostBytes = 64 << 20

    let path: String
    /// Its top level.
    let members: [Name: PropertyList]
    /// Identifies the content.
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
        do throws(PropertyList.Unreadable) {
            list = try PropertyList(bytes)
        } catch {
            throw switch error {
            case .foreign:
                Failure("The file \(path) is not a property list, neither binary nor XML.", remedy: Self.wanted)
            case .damaged(let format):
                Failure(
                    "The file \(path) is \(format) that was cut short or is damaged.",
                    remedy: "Copy it from the device again.")
            }
        }
        guard case .dictionary(let members) = list else {
            throw Failure("The file \(path) holds \(list.type), not a dictionary of keys.", remedy: Self.wanted)
        }
        self.members = members
    }

    private static let wanted =
        "Name an app group's preferences, which a device keeps as Library/Preferences/APP_GROUP.plist."

    private static func read(_ path: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard descriptor >= 0, let data = try? file.read(upToCount: mostBytes + 1) ?? Data() else {
            throw Failure(
                "The file \(path) cannot be read: \(String(cString: strerror(errno))).",
                remedy: "Check the path and the permissions. \(wanted)")
        }
        guard data.count <= mostBytes else {
            throw Failure("The file \(path) has more than \(mostBytes >> 20) MiB.", remedy: wanted)
        }
        return Array(data)
    }

    /// FNV-1a of 128 bits, in hexadecimal digits: it recognises a file, and need not resist an attack.
    private static func fingerprint(_ bytes: [UInt8]) -> String {
        let prime = UInt128(1) << 88 | 0x13B
        var hash: UInt128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D
        for byte in bytes { hash = (hash ^ UInt128(byte)) &* prime }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }
}
