-- For wrk: asks for the paths in the file PATHS, one line each, in turn.
local paths = {}
for path in io.lines(os.getenv("PATHS")) do paths[#paths + 1] = path end
local turn = 0

function request()
    turn = turn + 1
    return wrk.format("GET", paths[turn % #paths + 1])
end

function done(summary)
    print(string.format('{"requests":%d}', summary.requests))
end
