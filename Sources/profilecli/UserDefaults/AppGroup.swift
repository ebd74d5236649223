/// An app group's name, as the naming rule has it: `group.` and more.
enum AppGroup {
    private static let prefix = "group."

    static func isValid(_ name: String) -> Bool { name.hasPrefix(prefix) && name.count > prefix.count }

    /// The app group whose preferences are in a file of this path, if the file's name tells.
    static func named(by path: String) -> String? {
        guard let file = path.split(separator: "/").last, file.hasSuffix(".plist") else { return nil }
        let name = String(file.dropLast(".plist".count))
        return isValid(name) ? name : nil
    }

    /// `given`, or what the name of the file tells.
    static func meant(_ given: String?, path: String) throws -> String {
        if let name = given ?? named(by: path) { return name }
        throw Failure(
            "The name of \(path) tells no app group, which would begin with group. and end with .plist.",
            remedy: "Add --app-group, as in --app-group group.com.company.app.", status: .usage)
    }
}
