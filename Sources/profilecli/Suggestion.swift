internal import Synchronization

/// The command to be typed next.
enum Suggestion {
    /// `Next: profilecli COMMAND`, with the store or service that was named.
    static func next(_ command: String) -> String { "Next: profilecli \(TypedPlace.completing(command))" }

    /// What starts a device's app.
    static func launching(_ device: String) -> String {
        device == DefaultDevice.name ? "launch" : "launch \(Shell.device(device))"
    }

    /// What starts a device's app so that what waits is flushed; with a disabled SDK, what enables it.
    static func launching(_ device: String, isSDKEnabled: Bool?) -> String {
        afterQueueing(isSDKEnabled == false ? "disabled" : nil, device)
    }

    /// What makes an SDK send that keeps items for the reason `why`; a launch, if it keeps nothing.
    static func afterQueueing(_ why: String?, _ device: String) -> String {
        let name = Shell.device(device)
        return switch why {
        case "offline": "device settings \(name) --online"
        case "disabled": "device settings \(name) --enable-sdk"
        case "manual", "interval": "device send \(name)"
        default: launching(device)
        }
    }
}

/// The store or service as it was named on the command line, for the commands in hints and remedies: without it they
/// would work on another store.
enum TypedPlace {
    enum Place: Sendable {
        case store(String)
        case service(url: String)
    }

    private static let place = Mutex<Place?>(nil)

    /// Takes note of `--store` or `--url`; what the environment says needs no repetition.
    static func note(_ typed: Place) { place.withLock { $0 = typed } }

    /// Commands that work on a store's own files, and so have no `--url`.
    private static let storeOnly: Set<Substring> = ["check", "compact", "import", "replay", "simulate"]

    /// `command`, which begins with the name of a subcommand, followed by the place.
    static func completing(_ command: String) -> String {
        let words = command.split(separator: " ")
        guard let name = words.first, name != "generate", !words.contains("--help"), let place = place.withLock({ $0 })
        else { return command }
        return switch place {
        case .store(let folder): "\(command) \(Shell.option("--store", folder))"
        case .service where storeOnly.contains(name): "\(command) --store FOLDER"
        case .service(let url): "\(command) \(Shell.option("--url", url))"
        }
    }

    /// `text` with the place added to every command that is written in it as `` `profilecli …` ``.
    static func completing(in text: String) -> String {
        text.replacing(/`profilecli ([^`]+)`/) { match in
            let command = String(match.output.1)
            let isPlaced = command.contains(" --store") || command.contains(" --url")
            return "`profilecli \(isPlaced ? command : completing(command))`"
        }
    }
}

/// Text as a shell reads it.
enum Shell {
    /// `text` as one word.
    static func quoted(_ text: String) -> String {
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || "0"..."9" ~= scalar || "-_./:@+=,%".unicodeScalars.contains(scalar)
        }
        return isPlain && !text.isEmpty ? text : "'\(text.replacing("'", with: "'\\''"))'"
    }

    /// `option` and its value, also where that begins as an option does.
    static func option(_ option: String, _ value: String) -> String {
        option + (value.hasPrefix("-") ? "=" : " ") + quoted(value)
    }

    /// An ID as the argument USER.
    static func user(_ id: String) -> String { quoted(id.hasPrefix("-") ? "id:\(id)" : id) }

    /// A device as the argument DEVICE.
    static func device(_ name: String) -> String { name.hasPrefix("-") ? option("--device", name) : quoted(name) }
}

/// The device of requests that name none.
enum DefaultDevice {
    static let name = "phone"
}
