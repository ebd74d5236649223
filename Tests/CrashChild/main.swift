// A process that the crash tests start, feed and kill. It says each answer of the log on a line of its own, unbuffered,
// so that whatever was said before the end had been acknowledged before the end.
import Glibc
import ProfileLog

let arguments = Array(CommandLine.arguments.dropFirst())
let numbers = arguments.dropFirst(2).compactMap { UInt64($0) }

guard arguments.count >= 2 else {
    let modes = "load|script|write|turns|read|retry|hold-read|end-read|hold-write|digest|match|shadow"
    Report.line("usage: profilelog-crashchild \(modes) STORE NUMBER ...")
    exit(64)
}
let store = arguments[1]
// As the programs do, for a file that is cut while it is read.
BrokenPage.endProcess(withStatus: 2, saying: "A page of the store's file is broken.\n")
do {
    switch (arguments[0], numbers.count) {
    case ("load", 3):
        var run = try LoadRun(store: store, seed: numbers[0], round: numbers[1], retryingFrom: numbers[2])
        while true { try run.step() }
    case ("script", 1): try Report.marks { try ScriptRun(store: store, seed: numbers[0]).run() }
    case ("write", 3): try SharedRun.write(store: store, seed: numbers[0], writer: numbers[1], appends: numbers[2])
    case ("turns", 2): try SharedRun.takeTurns(store: store, seed: numbers[0], writer: numbers[1])
    case ("read", 0): try SharedRun.read(store: store)
    case ("retry", 3):
        let recipe = Recipe(seed: numbers[0], round: numbers[1], append: numbers[2]).keyed()
        try RetryRun.run(store: store, recipe: recipe)
    case ("hold-read", 0): try HoldRun.read(store: store)
    case ("end-read", 0): try HoldRun.readUntilTold(store: store)
    case ("hold-write", 0): try HoldRun.write(store: store)
    case ("digest", 0): exit(try DigestRun.run(store: store) ? 0 : 1)
    case ("match", 1): try MatchRun.run(events: Int(numbers[0]))
    case ("shadow", 1): try ShadowRun.run(store: store, threads: Int(numbers[0]))
    default:
        Report.line("bad arguments")
        exit(64)
    }
} catch {
    Report.line("failed \(error)")
    exit(3)
}
