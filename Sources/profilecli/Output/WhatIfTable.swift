internal import ProfileLog

/// A what-if for people: what each fault changed, some of the items, and the totals.
struct WhatIfTable {
    private let answer: JSONObject

    init(_ answer: JSONObject) { self.answer = answer }

    var lines: [String] {
        if count("items") == 0 { return ["Nothing was saved. \(Suggestion.next("save event jane opened"))"] }
        var lines: [String] = []
        if count("affected") > 0 { lines += faults + [""] + items + [""] }
        return lines + totals
    }

    private func count(_ key: Name) -> UInt64 { answer.count(key) }

    private var faults: [String] {
        var table = Table("#FAULT", "WHAT IT IS", "#ITEMS", "#USERS", "WHAT IT DID")
        for row in answer.objects("faults") {
            let effects = Self.effects(row["effects"])
            table.add(row["fault"].cell, row["title"].cell, row["items"].cell, row["users"].cell, effects)
        }
        return table.lines()
    }

    private var items: [String] {
        let listed = answer.objects("affected_items")
        var table = Table("#SAVED@", "USER", "DEVICE", "WHAT", "WENT TO", "BECAME")
        for item in listed {
            let deviations = item.objects("deviations").map { deviation in
                "\(Self.words(deviation["effect"])) (\(deviation["fault"].cell))"
            }
            let (user, receiver) = (item.object("user")["id"].cell, item.object("received_by")["id"].cell)
            table.add(
                item["position"].cell, user, item["device"].cell,
                item["names"].elements.map(\.cell).joined(separator: ", "), receiver == user ? "" : receiver,
                deviations.joined(separator: ", "))
        }
        let more = count("affected") - min(count("affected"), UInt64(listed.count))
        if listed.isEmpty { return ["\(Number.counted(more, "item")) not as saved; --items lists some of them."] }
        return table.lines()
            + (more == 0 ? [] : ["and \(Number.counted(more, "more item")); --items lists more of them."])
    }

    private var totals: [String] {
        let all = "\(Number.counted(count("items"), "item")) of \(Number.counted(count("users"), "user"))"
        let right = "\(Number.grouped(count("delivered_right"))) delivered right"
        let affected = "\(Number.grouped(count("affected"))) not as saved"
        let affectedUsers = "of \(Number.counted(count("affected_users"), "user"))"
        var parts = [right]
        if count("affected") > 0 { parts.append(Style.red("\(affected) (\(affectedUsers))")) }
        parts.append(Phrase.waiting(count("waiting")))
        if count("stranded") > 0 {
            parts.append("\(Number.grouped(count("stranded"))) stranded (the app never looks there)")
        }
        if count("rejected") > 0 { parts.append("\(Number.grouped(count("rejected"))) rejected") }
        parts.append("\(Number.grouped(count("discarded"))) given up")
        let verdict = count("affected") == 0 ? Style.green("Nothing differs: ") : ""
        var lines = [
            "\(verdict)\(all) on \(Number.counted(count("devices"), "device")): \(parts.joined(separator: ", "))."
        ]
        if count("affected") > 0 { lines.append("In all: \(Self.effects(answer["effects"])).") }
        return lines
    }

    /// `lost 3, misdated 12`, the worst first.
    private static func effects(_ effects: AttributeValue) -> String {
        FaultEffect.allCases.compactMap { effect in
            effects[Name(effect.rawValue)].map { "\(effect.name) \($0.cell)" }
        }.joined(separator: ", ")
    }

    private static func words(_ effect: AttributeValue) -> String {
        effect.text.flatMap(FaultEffect.init(rawValue:))?.name ?? effect.cell
    }
}
