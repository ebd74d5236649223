internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI
internal import Synchronization

/// A JSON document of a command line: the text itself, `@FILE`, or `-` for standard input.
enum TypedDocument {
    /// Bytes of a file.
    private static let mostBytes = 16 << 20

    /// Tells whether `text` names a file or standard input.
    static func isFile(_ text: String) -> Bool { text == "-" || text.hasPrefix("@") && text.utf8.count > 1 }

    /// The JSON value that `text` is or names; `place` is the option or the argument.
    static func value(_ text: String, _ place: String) throws -> AttributeValue {
        guard isFile(text) else {
            do throws(JSONError) {
                return try JSON.parse(Array(text.utf8), maxDepth: 100)
            } catch {
                throw ValidationError(
                    "\(place) is not valid JSON (\(error.kind) at byte \(error.offset)). "
                        + "Correct it, or name a file as in @file.json.")
            }
        }
        let (bytes, shown) = try bytes(text)
        do throws(JSONError) {
            return try JSON.parse(bytes, maxDepth: 100)
        } catch {
            throw CommandError(
                "\(shown) is not valid JSON (\(error.kind) at byte \(error.offset)).",
                remedy: "Correct it and run the command again.", status: .usage)
        }
    }

    /// The members of the JSON object that `text` is or names.
    static func object(_ text: String, _ place: String) throws -> [AttributeValue.Member] {
        guard case .object(let members) = try value(text, place) else {
            throw ValidationError("\(place) must be a JSON object, as in {\"key\": \"value\"}.")
        }
        return members
    }

    /// A content extension: JSON, or the extension's `Info.plist`. A member `info_plist` names that file, for the
    /// categories and the user interaction.
    static func contentExtension(_ text: String, _ place: String) throws -> AttributeValue {
        if isFile(text) {
            let (bytes, shown) = try bytes(text)
            if let plist = try? PropertyList(bytes), (try? JSON.parse(bytes, maxDepth: 100)) == nil {
                return .object(try ContentExtensionPlist.members(plist, shown))
            }
        }
        let value = try value(text, place)
        guard case .object(let members) = value, case .string(let path)? = value["info_plist"] else { return value }
        return try contentExtension(members, path)
    }

    /// A content extension of which `members` are given, and the rest is in the property list at `path`.
    static func contentExtension(_ members: [AttributeValue.Member], _ path: String) throws -> AttributeValue {
        let (bytes, shown) = try bytes("@" + path)
        return try ContentExtensionPlist.merged(members, bytes, shown)
    }

    /// The bytes that `text` names, and how to call them.
    private static func bytes(_ text: String) throws -> (bytes: [UInt8], shown: String) {
        let path = text == "-" ? text : String(text.dropFirst())
        let shown = NamedFile.shown(path)
        if let known = read.withLock({ $0[path] }) { return (known, shown) }
        let bytes = try NamedFile.bytes(path, atMost: mostBytes, remedy: "Check the path and its permissions.")
        read.withLock { $0[path] = bytes }
        return (bytes, shown)
    }

    /// The values that were read: an argument is looked at several times, and standard input can be read once.
    private static let read = Mutex<[String: [UInt8]]>([:])
}

/// The property list of a content extension (spec/device 7), as the setting `content_extension`.
enum ContentExtensionPlist {
    private static let point = "com.apple.usernotifications.content-extension"

    /// The categories, and whether the user can do something in it.
    static func members(_ plist: PropertyList, _ shown: String) throws(CommandError) -> [AttributeValue.Member] {
        let declared = plist["NSExtension"]
        if case .string(let name)? = declared?["NSExtensionPointIdentifier"], name != point {
            throw failure(
                "\(shown) is of another extension (\(name.oneLine)).", "Name that of the content extension: \(point).")
        }
        // Also the attributes only, or the dictionary NSExtension.
        let attributes = declared?["NSExtensionAttributes"] ?? plist["NSExtensionAttributes"] ?? plist
        let categories: [AttributeValue]
        switch attributes["UNNotificationExtensionCategory"] {
        case .string(let text)? where !text.isEmpty: categories = [.string(text)]
        case .array(let values)?:
            categories = try values.map { value throws(CommandError) in
                guard case .string(let text) = value else {
                    throw failure("\(shown) has \(value.type) as a category.", "Each category is a string.")
                }
                return .string(text)
            }
        case nil:
            throw failure(
                "\(shown) has no UNNotificationExtensionCategory.",
                "Name the Info.plist of the content extension; it has the key at NSExtension > NSExtensionAttributes.")
        case let value?:
            throw failure(
                "\(shown) has \(value.type) as UNNotificationExtensionCategory.", "It is a string or an array of them.")
        }
        var isEnabled = false
        switch attributes["UNNotificationExtensionUserInteractionEnabled"] {
        case .bool(let flag)?: isEnabled = flag
        case .integer(let number)?: isEnabled = number != 0
        case .string(let text)?: isEnabled = ["yes", "true", "1"].contains(text.lowercased())
        default: break
        }
        if attributes["UNNotificationExtensionInteractionEnabled"] != nil {
            Output.message(
                "\(shown): UNNotificationExtensionInteractionEnabled means nothing to iOS. "
                    + "The key is UNNotificationExtensionUserInteractionEnabled.")
        }
        return [.init("categories", .array(categories)), .init("user_interaction", .bool(isEnabled))]
    }

    /// `members` with what the property list `bytes` says, instead of the member `info_plist`.
    static func merged(
        _ members: [AttributeValue.Member], _ bytes: [UInt8], _ shown: String
    ) throws -> AttributeValue {
        guard let plist = try? PropertyList(bytes) else {
            throw failure("\(shown) is no property list.", "Name the Info.plist of the content extension.")
        }
        let given = members.filter { $0.key != "info_plist" }
        let read = try self.members(plist, shown).filter { member in !given.contains { $0.key == member.key } }
        return AttributeValue.object(sorting: given + read) ?? .null
    }

    private static func failure(_ message: String, _ remedy: String) -> CommandError {
        CommandError(message, remedy: remedy, status: .usage)
    }
}
