/// The rules that several commands have in common, for `profilecli help TOPIC`: the one place of these texts.
enum HelpTopic: String, CaseIterable {
    case user, when, conditions, cluster
    case exitCodes = "exit-codes"

    /// The names with commas between them.
    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// The topic of `profilecli help TOPIC`, in capitals or not; nil if `arguments` ask for no topic.
    init?(asked arguments: [String]) {
        guard arguments.count == 2, arguments[0] == "help" else { return nil }
        self.init(rawValue: arguments[1].lowercased())
    }

    /// No line is longer than 80 columns.
    var text: String {
        switch self {
        case .user:
            """
            USER is an external ID, or one of
              alias:LABEL:NAME   an alias; in LABEL a backslash before : and \\
              braze:ID           the ID that the store gave, in 24 hexadecimal digits
              email:ADDRESS      a user with this address; one with an external ID first
              phone:NUMBER       a user with this number; one with an external ID first
              device:ID          the user who is on the device now
              id:EXTERNAL_ID     an external ID that begins like one of these
            """
        case .when:
            """
            WHEN is a moment of the past, not after now, one of
              1200               after the event at this position of the log
              version:7          after the user's seventh event
              2026-01-31 14:03   a local time; with a zone, as in 2026-01-31T14:03Z, that
              yesterday 14:00    a local day, today or a day's name, and maybe a time
              -3d                that long ago: s, m, h or d
              now                the end of the log
            """
        case .conditions:
            """
            A condition holds for a user or does not: users --where, explain --where.
              country = "DE" and custom.level >= 3
              custom.plan in ("free", "trial") or not exists(custom.plan)
              events.purchase.count >= 3 in 30d
              last_seen < 30d ago
              custom.cars[].brand = "Seat"

            Fields are
              country, email, …  standard attributes, by their names on the wire
              custom.NAME        a custom attribute; a dot leads into an object
              events.NAME.count  how often; also .first and .last, as times
              purchases.PRODUCT  with .count, .first, .last or .revenue
              traits.NAME        a computed trait
              first_seen, last_seen, sessions.count, launches.count, total_revenue,
              pending, version, external_id, braze_id

            Comparisons are =, !=, <, <=, >, >=, in, contains, matches and exists().
            A missing value fails each of them. docs/where.md has all of it.
            """
        case .cluster:
            """
            A cluster is several profiled, its nodes, that serve one store. Brokers
            (NATS JetStream) give each batch of events its place in one stream, and
            each node applies the stream to its own store.
              node, broker       profiled --node NAME; a nats-server of --replicate
              position           the last event that a node has
              sequence           the last message of the stream that it has applied
              missing            messages of the stream that it does not have yet
              lag                time since it last knew that it has all of them
              preferred writer   wrote the last batch; the others forward writes to it
              undecided batch    sent, and not known yet whether it is stored
              fail-over          a time in which no broker acknowledged a batch

            A node in `profilecli cluster status` is
              writes             the preferred writer
              ready              applies what others write; writes if need be
              takes no writes    reads only: status says why, and the next step
              no word for 5 s    missing: no note came for more than 3 s

            By task
              How is it?                  profilecli cluster status --url URL
              Are all stores the same?    profilecli cluster verify --url URL
              Brokers keep batches 7 d    profilecli cluster stream --url URL --max-age 7d
              The stream is lost          profilecli cluster rebuild --url URL
              Back to one machine         profilecli cluster leave --store FOLDER
              A new node, or one that     profiled serve --replicate nats://a,b,c \\
              was away for too long         --node NAME --join URL
            docs/scaling.md leads from one machine to three and back.
            """
        case .exitCodes:
            """
            EXIT STATUS
              0 done, 1 failed, 2 damage or a difference found, 64 wrong usage,
              74 the output cannot be written, 75 conflict, 130 stopped by Ctrl-C,
              143 stopped by SIGTERM
            """
        }
    }
}
