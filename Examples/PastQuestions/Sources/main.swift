// Asks about the past of a user: what she was, why, and what would be.
//
//     swift run PastQuestions FOLDER
import ProfileLog

let folder = CommandLine.arguments.dropFirst().first ?? "profiles"
let clock = StoryClock()
var options = LogOptions()
options.now = { clock.now }
let log = try EventLog(path: folder, create: true, options: options)

let (late, views) = try tell(log, clock)
try askWhat(log)
try askWhy(log)
try askWhatIf(log, late: late, views: views)
log.close()
