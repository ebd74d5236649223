// One question in three scopes: the money of a user, of each product, of a device. Proves the answers, and rebuilds them.
//
//     swift run OwnProjection FOLDER
import ProfileLog

let folder = CommandLine.arguments.dropFirst().first ?? "profiles"
let log = try EventLog(path: folder, create: true, projections: [Spending.self, Sales.self, Till.self])

let onPhone = EventContext(source: .app, device: "phone")
let book = Purchase(product: "book", currency: "EUR", price: 12.5, quantity: 2)
let purchase = try log.append([.purchaseLogged(book)], to: "jane", context: onPhone, idempotencyKey: "order 1").last
let refund = Purchase(product: "book", currency: "EUR", price: -12.5)
try log.append([.purchaseLogged(refund)], to: "jane", context: onPhone, idempotencyKey: "order 1, refund")

let pen = Purchase(product: "pen", currency: "EUR", price: 0.1, quantity: 3)
let onTablet = EventContext(source: .app, device: "tablet")
let mistake = try log.append([.purchaseLogged(pen)], to: "bo", context: onTablet, idempotencyKey: "order 2").last

func printMoney(asOf moment: Moment = .now) throws {
    let (jane, bo) = (
        try log.state(of: Spending.self, for: "jane", asOf: moment),
        try log.state(of: Spending.self, for: "bo", asOf: moment)
    )
    let sales = try log.state(of: Sales.self, asOf: moment)
    let till = try log.state(of: Till.self, on: "phone", asOf: moment)
    print("jane spent \(jane), bo \(bo)")
    print("  by product:", sales.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
    print("  on the phone: \(till)")
}

try printMoney(asOf: .position(mistake))

// What was stored by mistake counts no more, in no scope. The past still has it.
try log.void(mistake, actor: "ops", reason: "a test purchase", idempotencyKey: "void of order 2")
try printMoney()

// For the rules that are tried below.
for level in [Int64(1), 2] {
    try log.append(
        [.customAttributesChanged([AttributeChange("level", .set(.int(level)))])], to: "jane",
        idempotencyKey: "level \(level)")
}
try log.append(
    [.customEventLogged(CustomEvent(name: "seen"))], to: "bo", context: EventContext(source: .import),
    idempotencyKey: "line 1")

try prove(log, backup: folder + ".backup")
try tryRules(log, purchase: purchase)
log.close()
