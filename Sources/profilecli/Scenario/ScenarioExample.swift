/// The example that `profilecli scenario new` writes.
enum ScenarioExample {
    static let text = """
        # A scenario: what happens to a simulated phone, step by step, and what must then be true.
        # Play it with `profilecli scenario run FILE`; docs/scenarios.md describes every step.
        name: A match game in a push
        start: 2026-01-05T09:00:00Z            # the scenario's clock; only `wait` moves it

        steps:
          # A push arrives. Its content extension cannot send anything, so it saves what happened.
          - save-event:
              name: Completed Match Game
              properties: {Score: 10}
              process: PushContent             # the extension; without it the app saves
          - save-attributes:
              attributes: {level: 7}
              process: PushContent

          # Nothing is in a profile yet: two items wait for the app.
          - expect-pending:
              total: 2

          # Two hours later the app is opened, and flushes them.
          - wait: 2h
          - launch
          - change-user: jane

          # Jane's profile has both, and the game was played when it was played.
          - expect-profile:
              user: jane
              custom_attributes: {level: 7}
              custom_events:
                - name: Completed Match Game
                  count: 1
                  first: 2026-01-05T09:00:00Z
          - expect-pending:
              total: 0

        """
}
