/// The definition of an in-app message: its trigger, the conditions of its display, its content (spec/device 5 and 7).
package struct InAppMessage: Hashable, Sendable {
    package let id: Name
    package let kind: Kind
    /// Any of them triggers it.
    package let triggers: [TriggerCondition]
    /// The priority: of several messages that one event triggers, the one with the highest is shown; of equal ones, the
    /// first.
    package var priority: Double
    /// The time after which it may be triggered.
    package var startTime: Timestamp?
    /// The time before which it may be triggered.
    package var endTime: Timestamp?
    package var reEligibility: ReEligibility
    /// Seconds between trigger and display.
    package var delay: UInt32
    /// Seconds after the delay in which it must be ready for the display; nil for any time.
    package var timeout: UInt32?
    package var orientation: Orientation
    package var form: Form
    package var header: String?
    package var text: String?
    /// Identifiers of its buttons.
    package var buttons: [Name]
    /// Key-value pairs for the app, in ascending order of keys.
    package var extras: [AttributeValue.Member]
    package var assets: [Asset]
    /// Tells whether it is a control variant: its impression is logged, and nothing is shown.
    package var isControl: Bool

    package enum Kind: String, Sendable, CaseIterable {
        /// Complete on the device: works offline.
        case inApp = "inapp"
        /// Its content is requested when it is triggered: fails offline.
        case templated = "templated_iam"
    }

    /// The rule by which it may be triggered again after a display (spec/device 5).
    package enum ReEligibility: Hashable, Sendable {
        case never
        case always
        /// A number of seconds after the last display.
        case after(seconds: UInt32)
    }

    package enum Orientation: String, Sendable, CaseIterable { case any, portrait, landscape }

    package enum Form: Hashable, Sendable {
        /// A bar that slides in, in the colours of the device's theme.
        case slideUp(from: Edge, themes: [Theme: [AttributeValue.Member]] = [:])
        case modal
        case full
        /// A view of the app. The app logs impressions and clicks by hand.
        case custom

        /// The form's name in JSON.
        package var word: String {
            switch self {
            case .slideUp: "slideup"
            case .modal: "modal"
            case .full: "full"
            case .custom: "custom"
            }
        }
    }

    package enum Edge: String, Sendable, CaseIterable { case top, bottom }

    package typealias Theme = InAppSettings.Theme

    /// A file that is downloaded when the session starts.
    package struct Asset: Hashable, Sendable {
        package let url: String
        package let kind: Kind

        package enum Kind: String, Sendable, CaseIterable { case image, zip }

        package init(_ kind: Kind, url: String) {
            (self.kind, self.url) = (kind, url)
        }
    }

    static let maxTriggers = 50
    /// Longest delay, timeout or re-eligibility: ten years of seconds.
    static let maxSeconds = 315_360_000

    /// Makes a definition, or names the field that is wrong. Intervals are in seconds; `reEligibility` is -1 for never
    /// again, 0 for always, else seconds since the last display.
    package init(
        id: Name, kind: Kind = .inApp, triggers: [TriggerCondition], priority: Double = 0, startTime: Timestamp? = nil,
        endTime: Timestamp? = nil, reEligibility: Int = -1, delay: Int = 0, timeout: Int? = nil,
        orientation: Orientation = .any, form: Form = .modal, header: String? = nil, text: String? = nil,
        buttons: [Name] = [], extras: [AttributeValue.Member] = [], assets: [Asset] = [], isControl: Bool = false
    ) throws(DocumentError) {
        try Self.check(id, at: "id")
        guard (1...Self.maxTriggers).contains(triggers.count) else {
            throw DocumentError(
                place: "trigger_conditions",
                reason: triggers.isEmpty ? "is empty, so nothing shows the message" : "has more than 50 conditions",
                remedy: "Give from 1 to 50 conditions.")
        }
        for (index, trigger) in triggers.enumerated() {
            do { try trigger.check() } catch { throw error.below("trigger_conditions[\(index)]") }
        }
        guard priority.isFinite else {
            throw DocumentError(place: "priority", reason: "is no number", remedy: "Give a number.")
        }
        if let startTime, let endTime, endTime <= startTime {
            throw DocumentError(
                place: "end_time", reason: "is not after `start_time`", remedy: "Give a later time, or none.")
        }
        self.id = id
        self.kind = kind
        self.triggers = triggers
        // -0 and 0 are one priority.
        self.priority = priority == 0 ? 0 : priority
        self.startTime = startTime
        self.endTime = endTime
        switch reEligibility {
        case -1: self.reEligibility = .never
        case 0: self.reEligibility = .always
        default: self.reEligibility = .after(seconds: try Self.seconds(reEligibility, at: "re_eligibility"))
        }
        self.delay = try Self.seconds(delay, at: "delay")
        self.timeout = nil
        if let timeout { self.timeout = try Self.seconds(timeout, at: "timeout") }
        self.orientation = orientation
        self.form = form
        self.header = header
        self.text = text
        for (index, button) in buttons.enumerated() {
            try Self.check(button, at: "buttons[\(index)]")
            if buttons[..<index].contains(button) {
                throw DocumentError(
                    place: "buttons[\(index)]", reason: "is the ID of two buttons", remedy: "Give each its own.")
            }
        }
        self.buttons = buttons
        self.extras = extras
        self.assets = assets
        self.isControl = isControl
    }

    static func seconds(_ seconds: Int, at place: String) throws(DocumentError) -> UInt32 {
        guard (0...maxSeconds).contains(seconds) else {
            throw DocumentError(
                place: place, reason: seconds < 0 ? "is a negative interval" : "is longer than ten years",
                remedy: "Give whole seconds from 0 to \(maxSeconds).")
        }
        return UInt32(seconds)
    }

    static func check(_ name: Name, at place: String) throws(DocumentError) {
        guard !name.text.isEmpty, !name.text.isLonger(than: Limits.charactersPerName) else {
            throw DocumentError(
                place: place, reason: name.text.isEmpty ? "is empty" : "is longer than 255 characters",
                remedy: "Give from 1 to 255 characters.")
        }
    }

    /// Tells whether it may be triggered at `now`: after its start and before its end (spec/device 5, time window).
    func isOpen(at now: Int64) -> Bool {
        (startTime.map { $0.rawValue < now } ?? true) && (endTime.map { $0.rawValue > now } ?? true)
    }

    /// Returns the content that the step that shows it records.
    func shownContent(on theme: Theme) -> [AttributeValue.Member] {
        var members: [AttributeValue.Member] = [.init("form", .string(form.word))]
        if let header { members.append(.init("header", .string(header))) }
        if let text { members.append(.init("message", .string(text))) }
        if !extras.isEmpty { members.append(.init("extras", .object(extras))) }
        if case .slideUp(let edge, let themes) = form {
            members.append(.init("slide_from", .string(edge.rawValue)))
            // Without colours of the device's theme, the light ones are used.
            let used: Theme = theme == .dark && themes[.dark] != nil ? .dark : .light
            members.append(.init("theme", .string(used.rawValue)))
            if let colors = themes[used], !colors.isEmpty { members.append(.init("colors", .object(colors))) }
        }
        return members.sorted { $0.key < $1.key }
    }
}
