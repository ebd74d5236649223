// Folds a projection of its own, proves it by replay, and rebuilds its states.
//
//     swift run OwnProjection FOLDER
import ProfileLog

let folder = CommandLine.arguments.dropFirst().first ?? "profiles"
let log = try EventLog(path: folder, create: true, projections: [ProfileProjection.self, Spending.self])

let book = Purchase(product: "book", currency: "EUR", price: 12.5, quantity: 2)
let purchase = try log.append([.purchaseLogged(book)], to: .externalID("jane"), idempotencyKey: "order 1").last
let refund = Purchase(product: "book", currency: "EUR", price: -12.5)
_ = try log.append([.purchaseLogged(refund)], to: .externalID("jane"), idempotencyKey: "order 1, refund")
for level in [Int64(1), 2] {
    _ = try log.append(
        [.customAttributesChanged([AttributeChange("level", .set(.int(level)))])], to: .externalID("jane"),
        idempotencyKey: "level \(level)")
}
_ = try log.append(
    [.customEventLogged(CustomEvent(name: "seen"))], to: .externalID("bo"), context: EventContext(source: .import),
    idempotencyKey: "line 1")

if let jane = try log.find(.externalID("jane")) {
    let spending = try log.state(Spending.self, of: jane.number)
    print("jane paid \(spending)")
}

let proof = try log.replay(Spending.self, threads: 2, verify: true)
precondition(proof.isEqual, "\(proof.differences)")
print("Live states equal a fresh fold.")

while try !log.replayIntoShadow(threads: 2).isComplete {}
try log.swapShadow()

let report = try log.check()
precondition(report.isSound, "`profilecli check --store \(folder)` says what is damaged")
print("The store is sound.")

try tryRules(log, purchase: purchase)
