extension WhyNotTests {
    /// Stories of the reasons that no shipped scenario tells.
    static let rare =
        [sends, rendered, arrivals, serverEvents, starts, extensions, messages, definitions] + [
            manyPushes, manyMessages,
        ]

    private static let sends = """
        name: What hinders a send
        workspace:
          subscription_groups: [{id: news, name: News, channel: email}, {id: sms, name: SMS, channel: sms}]
          canvases:
            - id: welcome
              name: Welcome
              steps:
                - {name: hello, messages: [{webhook: {url: "https://example.test"}}]}
                - {name: later, messages: [{webhook: {url: "https://example.test"}}]}
        steps:
          - log-event: {user: ben, name: known}
          - request:
              path: /users/track
              body: {attributes: [{external_id: cat, email: c@example.com, email_subscribe: unsubscribed}]}
              status: 201
          - request:
              path: /users/track
              body: {attributes: [{external_id: dan, email: d@example.com, phone: "+15550100"}]}
              status: 201
          - &send
            request:
              path: /messages/send
              body:
                external_user_ids: [ben, cat]
                messages:
                  email: {from: a@example.com, subject: s, body: b}
                  web_push: {alert: a}
                  sms: {subscription_group_id: sms, body: b}
              status: 201
          - request:
              path: /messages/send
              body:
                external_user_ids: [dan]
                recipient_subscription_state: opted_in
                messages: {email: {from: a@example.com, subject: s, body: b}}
              status: 201
          - request:
              path: /messages/send
              body:
                external_user_ids: [dan]
                messages: {sms: {subscription_group_id: sms, body: b}}
              status: 201
          - request:
              path: /users/track
              body: {attributes: [{external_id: eve, email: d@example.com}]}
              status: 201
          - request:
              path: /messages/send
              body:
                external_user_ids: [dan, eve]
                messages: {email: {from: a@example.com, subject: s, body: b}}
              status: 201
          - request:
              path: /canvas/trigger/send
              body: {canvas_id: welcome, recipients: [{external_user_id: ben}]}
              status: 201
          - request: {path: /v1/channels, body: {channel: webhook, fails: true}}
          - request:
              path: /canvas/trigger/send
              body: {canvas_id: welcome, recipients: [{external_user_id: ben}]}
              status: 201
          - request: {path: /v1/channels, body: {channel: webhook, fails: false}}
        """.replacing("  - &send\n    request:", with: "  - request:")

    /// A message that becomes larger than an event may be.
    private static let rendered = """
        name: What was rendered is too large
        steps:
          - log-attributes: {user: big, attributes: {plan: "\(String(repeating: "x", count: 250))"}}
          - request:
              path: /messages/send
              body:
                external_user_ids: [big]
                messages:
                  webhook:
                    url: u
                    request_headers: {\((0..<6).map { #"h\#($0): "\#(text)""# }.joined(separator: ", "))}
              status: 201
        """

    private static let text = String(repeating: "{{custom_attribute.${plan}}}", count: 1_000)

    private static let arrivals = """
        name: What hinders a push on its way, and when it is there
        steps:
          - push: {action: receive, device: new, payload: {aps: {content-available: 1}}}
          - change-user: jane
          - launch
          - push: {action: receive, collapse_id: a, payload: {aps: {alert: Hi}, ab: {}}}
          - push: {action: receive, collapse_id: a, payload: {aps: {alert: Hi}, ab: {}}}
          - settings: {permission: denied}
          - push: {action: receive, payload: {aps: {alert: Hi}, ab: {}}}
          - settings: {permission: not_asked}
          - push: {action: receive, payload: {aps: {alert: Hi}, ab: {}}}
          - settings: {permission: granted, sdk_enabled: false}
          - push: {action: receive, payload: {aps: {content-available: 1}, ab: {}}}
          - settings: {sdk_enabled: true}
          - remove-app: phone
          - push: {action: receive, payload: {aps: {alert: Hi}, ab: {}}}
        """

    private static let serverEvents = """
        name: What is no server event
        steps:
          - change-user: jane
          - launch
          - push:
              {action: receive, payload: {aps: {content-available: 1}, ab: {}, IS_SERVER_EVENT: true, CAMPAIGN_NAME: C}}
          - push: {action: receive, payload: {aps: {content-available: 1}, ab: {}, IS_SERVER_EVENT: "true"}}
          - push: {action: receive, payload: {aps: {alert: Hi}, ab: {}, IS_SERVER_EVENT: "true", CAMPAIGN_NAME: C}}
          - settings: {server_events: off}
          - push:
              action: receive
              payload: {aps: {content-available: 1}, ab: {}, IS_SERVER_EVENT: "true", CAMPAIGN_NAME: C}
        """

    private static let starts = """
        name: An app that is not prepared
        steps:
          - change-user: jane
          - settings: {startup: {prepared: never}}
          - launch
          - push: {action: receive, payload: {aps: {content-available: 1}, ab: {}}}
          - settings: {startup: {push_automation: [opened]}}
          - launch
          - push: {action: receive, payload: {aps: {content-available: 1}, ab: {}}}
        """

    private static let extensions = """
        name: Interfaces of the system
        steps:
          - change-user: jane
          - launch
          - push: {action: receive, payload: {aps: {alert: Hi}, ab: {}}}
          - push: expand
          - push: dismiss
          - settings: {content_extension: {categories: [a], input: email}}
          - push: {action: receive, payload: {aps: {alert: Hi}, ab: {}}}
          - push: expand
          - push: dismiss
          - push: {action: receive, payload: {aps: {alert: Hi, category: a}, ab: {}}}
          - push: expand
          - push: {action: input, text: x}
          - push: {action: receive, payload: {aps: {alert: Hi}, ab: {}}}
          - remove-app: phone
        """

    private static let messages = """
        name: What hinders an in-app message
        start: 2026-01-05T09:00:00Z
        steps:
          - declare-messages:
              - id: assets
                trigger_conditions: [{type: custom_event, event_name: assets}]
                assets: [{url: "https://example.test"}]
              - {id: again, re_eligibility: 0, trigger_conditions: [{type: custom_event, event_name: again}]}
              - id: landscape
                orientation: landscape
                trigger_conditions: [{type: custom_event, event_name: landscape}]
              - id: early
                start_time: 2027-01-01T00:00:00Z
                trigger_conditions: [{type: custom_event, event_name: early}]
              - {id: late, end_time: 2025-01-01T00:00:00Z, trigger_conditions: [{type: custom_event, event_name: late}]}
              - {id: waits, delay: 1d, trigger_conditions: [{type: custom_event, event_name: waits}]}
              - {id: other, trigger_conditions: [{type: custom_event, event_name: other}]}
          - change-user: jane
          - settings: {messages: {minimum_interval: 0, failing_assets: [assets]}}
          - launch
          - log-event: {device: phone, name: assets}
          - log-event: {device: phone, name: landscape}
          - log-event: {device: phone, name: early}
          - log-event: {device: phone, name: late}
          - log-event: {device: phone, name: waits}
          - log-event: {device: phone, name: waits}
          - log-event: {device: phone, name: again}
          - log-event: {device: phone, name: again}
          - message-action: close
          - settings: {messages: {display_choice: reenqueue}}
          - log-event: {device: phone, name: other}
          - settings: {messages: {display_choice: show}}
          - change-user: bob
          - expect-history:
              user: jane
              kind: inAppMessageDiscarded
              events: {$contains: [{message: other, reason: another user is on the device}]}
        """

    private static let definitions = """
        name: A definition that is no longer there
        steps:
          - declare-messages: [{id: old, delay: 60s, trigger_conditions: [{type: custom_event, event_name: old}]}]
          - change-user: jane
          - launch
          - log-event: {device: phone, name: old}
          - declare-messages: [{id: new, trigger_conditions: [{type: custom_event, event_name: new}]}]
          - leave
          - wait: 20s
          - launch: return
          - wait: 60s
          - message-action: time_passed
        """

    private static let manyPushes =
        "name: More pushes than a device shows\nsteps:\n  - change-user: jane\n  - launch\n"
        + String(
            repeating: "  - push: {action: receive, message: m, payload: {aps: {alert: Hi}, ab: {}}}\n", count: 101)

    /// 200 messages wait, and one more is triggered.
    private static let manyMessages =
        "name: More messages than can wait\nsteps:\n  - declare-messages:\n"
        + (0..<200).map {
            "      - {id: m\($0), delay: 1d, trigger_conditions: [{type: custom_event, event_name: e\($0)}]}\n"
        }.joined()
        + "  - change-user: jane\n  - settings: {messages: {minimum_interval: 0}}\n  - launch\n"
        + (0..<200).map { "  - log-event: {device: phone, name: e\($0)}\n" }.joined()
        + "  - declare-messages:\n"
        + "      [{id: last, delay: 1d, trigger_conditions: [{type: custom_event, event_name: last}]}]\n"
        + "  - leave\n  - wait: 20s\n  - launch: return\n  - log-event: {device: phone, name: last}\n"
}
