#include "console.h"

// The files of ../Console, each with its bytes and its entry. One that is missing here fails a test, and one that is
// here alone fails to compile.
#pragma clang diagnostic ignored "-Wc23-extensions"
#define FILE(symbol) static const unsigned char symbol[] = {
#define END };
#define ENTRY(name, symbol) {name, symbol, sizeof(symbol)}

FILE(index_html)
#embed "../Console/index.html"
END
FILE(app_css)
#embed "../Console/app.css"
END
FILE(router_js)
#embed "../Console/router.js"
END
FILE(api_js)
#embed "../Console/api.js"
END
FILE(dom_js)
#embed "../Console/dom.js"
END
FILE(panel_js)
#embed "../Console/panel.js"
END
FILE(time_js)
#embed "../Console/time.js"
END
FILE(overview_js)
#embed "../Console/overview.js"
END
FILE(act_js)
#embed "../Console/act.js"
END
FILE(cause_js)
#embed "../Console/cause.js"
END
FILE(compare_js)
#embed "../Console/compare.js"
END
FILE(copy_js)
#embed "../Console/copy.js"
END
FILE(device_js)
#embed "../Console/device.js"
END
FILE(devices_js)
#embed "../Console/devices.js"
END
FILE(drawer_js)
#embed "../Console/drawer.js"
END
FILE(event_js)
#embed "../Console/event.js"
END
FILE(events_js)
#embed "../Console/events.js"
END
FILE(favicon_svg)
#embed "../Console/favicon.svg"
END
FILE(growth_js)
#embed "../Console/growth.js"
END
FILE(keys_js)
#embed "../Console/keys.js"
END
FILE(life_js)
#embed "../Console/life.js"
END
FILE(marks_js)
#embed "../Console/marks.js"
END
FILE(message_js)
#embed "../Console/message.js"
END
FILE(people_js)
#embed "../Console/people.js"
END
FILE(person_js)
#embed "../Console/person.js"
END
FILE(pins_js)
#embed "../Console/pins.js"
END
FILE(places_css)
#embed "../Console/places.css"
END
FILE(plane_js)
#embed "../Console/plane.js"
END
FILE(rejected_js)
#embed "../Console/rejected.js"
END
FILE(scenario_js)
#embed "../Console/scenario.js"
END
FILE(search_js)
#embed "../Console/search.js"
END
FILE(sends_js)
#embed "../Console/sends.js"
END
FILE(setup_js)
#embed "../Console/setup.js"
END
FILE(table_js)
#embed "../Console/table.js"
END
FILE(timeline_js)
#embed "../Console/timeline.js"
END
FILE(where_js)
#embed "../Console/where.js"
END
FILE(who_js)
#embed "../Console/who.js"
END
FILE(wire_js)
#embed "../Console/wire.js"
END
FILE(words_js)
#embed "../Console/words.js"
END

static const profiled_console_entry entries[] = {
    ENTRY("index.html", index_html),
    ENTRY("app.css", app_css),
    ENTRY("router.js", router_js),
    ENTRY("api.js", api_js),
    ENTRY("dom.js", dom_js),
    ENTRY("panel.js", panel_js),
    ENTRY("time.js", time_js),
    ENTRY("overview.js", overview_js),
    ENTRY("act.js", act_js),
    ENTRY("cause.js", cause_js),
    ENTRY("compare.js", compare_js),
    ENTRY("copy.js", copy_js),
    ENTRY("device.js", device_js),
    ENTRY("devices.js", devices_js),
    ENTRY("drawer.js", drawer_js),
    ENTRY("event.js", event_js),
    ENTRY("events.js", events_js),
    ENTRY("favicon.svg", favicon_svg),
    ENTRY("growth.js", growth_js),
    ENTRY("keys.js", keys_js),
    ENTRY("life.js", life_js),
    ENTRY("marks.js", marks_js),
    ENTRY("message.js", message_js),
    ENTRY("people.js", people_js),
    ENTRY("person.js", person_js),
    ENTRY("pins.js", pins_js),
    ENTRY("places.css", places_css),
    ENTRY("plane.js", plane_js),
    ENTRY("rejected.js", rejected_js),
    ENTRY("scenario.js", scenario_js),
    ENTRY("search.js", search_js),
    ENTRY("sends.js", sends_js),
    ENTRY("setup.js", setup_js),
    ENTRY("table.js", table_js),
    ENTRY("timeline.js", timeline_js),
    ENTRY("where.js", where_js),
    ENTRY("who.js", who_js),
    ENTRY("wire.js", wire_js),
    ENTRY("words.js", words_js),
};

const profiled_console_entry *profiled_console_file(size_t index) {
    return index < sizeof(entries) / sizeof(entries[0]) ? &entries[index] : NULL;
}
