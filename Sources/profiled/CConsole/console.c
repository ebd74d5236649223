#include "console.h"

// The files of ../Console. A file that is new there is named twice here: its bytes and its entry.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "../Console/index.html"
};
static const unsigned char app_css[] = {
#embed "../Console/app.css"
};
static const unsigned char favicon_svg[] = {
#embed "../Console/favicon.svg"
};
static const unsigned char router_js[] = {
#embed "../Console/router.js"
};
static const unsigned char api_js[] = {
#embed "../Console/api.js"
};
static const unsigned char dom_js[] = {
#embed "../Console/dom.js"
};
static const unsigned char panel_js[] = {
#embed "../Console/panel.js"
};
static const unsigned char time_js[] = {
#embed "../Console/time.js"
};
static const unsigned char table_js[] = {
#embed "../Console/table.js"
};
static const unsigned char keys_js[] = {
#embed "../Console/keys.js"
};
static const unsigned char search_js[] = {
#embed "../Console/search.js"
};
static const unsigned char drawer_js[] = {
#embed "../Console/drawer.js"
};
static const unsigned char overview_js[] = {
#embed "../Console/overview.js"
};

// Files of places that come one by one.
#if __has_embed("../Console/people.js")
static const unsigned char people_js[] = {
#embed "../Console/people.js"
};
#endif
#if __has_embed("../Console/person.js")
static const unsigned char person_js[] = {
#embed "../Console/person.js"
};
#endif
#if __has_embed("../Console/timeline.js")
static const unsigned char timeline_js[] = {
#embed "../Console/timeline.js"
};
#endif
#if __has_embed("../Console/devices.js")
static const unsigned char devices_js[] = {
#embed "../Console/devices.js"
};
#endif
#if __has_embed("../Console/device.js")
static const unsigned char device_js[] = {
#embed "../Console/device.js"
};
#endif
#if __has_embed("../Console/sends.js")
static const unsigned char sends_js[] = {
#embed "../Console/sends.js"
};
#endif
#if __has_embed("../Console/message.js")
static const unsigned char message_js[] = {
#embed "../Console/message.js"
};
#endif
#if __has_embed("../Console/events.js")
static const unsigned char events_js[] = {
#embed "../Console/events.js"
};
#endif
#if __has_embed("../Console/event.js")
static const unsigned char event_js[] = {
#embed "../Console/event.js"
};
#endif
#if __has_embed("../Console/rejected.js")
static const unsigned char rejected_js[] = {
#embed "../Console/rejected.js"
};
#endif
#if __has_embed("../Console/setup.js")
static const unsigned char setup_js[] = {
#embed "../Console/setup.js"
};
#endif
#if __has_embed("../Console/compare.js")
static const unsigned char compare_js[] = {
#embed "../Console/compare.js"
};
#endif
#if __has_embed("../Console/cause.js")
static const unsigned char cause_js[] = {
#embed "../Console/cause.js"
};
#endif
#if __has_embed("../Console/pins.js")
static const unsigned char pins_js[] = {
#embed "../Console/pins.js"
};
#endif
#if __has_embed("../Console/life.js")
static const unsigned char life_js[] = {
#embed "../Console/life.js"
};
#endif
#if __has_embed("../Console/marks.js")
static const unsigned char marks_js[] = {
#embed "../Console/marks.js"
};
#endif
#if __has_embed("../Console/plane.js")
static const unsigned char plane_js[] = {
#embed "../Console/plane.js"
};
#endif
#if __has_embed("../Console/act.js")
static const unsigned char act_js[] = {
#embed "../Console/act.js"
};
#endif
#if __has_embed("../Console/steps.js")
static const unsigned char steps_js[] = {
#embed "../Console/steps.js"
};
#endif
#if __has_embed("../Console/who.js")
static const unsigned char who_js[] = {
#embed "../Console/who.js"
};
#endif
#if __has_embed("../Console/words.js")
static const unsigned char words_js[] = {
#embed "../Console/words.js"
};
#endif
#if __has_embed("../Console/where.js")
static const unsigned char where_js[] = {
#embed "../Console/where.js"
};
#endif
#if __has_embed("../Console/scenario.js")
static const unsigned char scenario_js[] = {
#embed "../Console/scenario.js"
};
#endif

#define ENTRY(name, bytes) {name, bytes, sizeof(bytes)}

static const profiled_console_entry entries[] = {
    ENTRY("index.html", index_html),
    ENTRY("app.css", app_css),
    ENTRY("favicon.svg", favicon_svg),
    ENTRY("router.js", router_js),
    ENTRY("api.js", api_js),
    ENTRY("dom.js", dom_js),
    ENTRY("panel.js", panel_js),
    ENTRY("time.js", time_js),
    ENTRY("table.js", table_js),
    ENTRY("keys.js", keys_js),
    ENTRY("search.js", search_js),
    ENTRY("drawer.js", drawer_js),
    ENTRY("overview.js", overview_js),
#if __has_embed("../Console/people.js")
    ENTRY("people.js", people_js),
#endif
#if __has_embed("../Console/person.js")
    ENTRY("person.js", person_js),
#endif
#if __has_embed("../Console/timeline.js")
    ENTRY("timeline.js", timeline_js),
#endif
#if __has_embed("../Console/devices.js")
    ENTRY("devices.js", devices_js),
#endif
#if __has_embed("../Console/device.js")
    ENTRY("device.js", device_js),
#endif
#if __has_embed("../Console/sends.js")
    ENTRY("sends.js", sends_js),
#endif
#if __has_embed("../Console/message.js")
    ENTRY("message.js", message_js),
#endif
#if __has_embed("../Console/events.js")
    ENTRY("events.js", events_js),
#endif
#if __has_embed("../Console/event.js")
    ENTRY("event.js", event_js),
#endif
#if __has_embed("../Console/rejected.js")
    ENTRY("rejected.js", rejected_js),
#endif
#if __has_embed("../Console/setup.js")
    ENTRY("setup.js", setup_js),
#endif
#if __has_embed("../Console/compare.js")
    ENTRY("compare.js", compare_js),
#endif
#if __has_embed("../Console/cause.js")
    ENTRY("cause.js", cause_js),
#endif
#if __has_embed("../Console/pins.js")
    ENTRY("pins.js", pins_js),
#endif
#if __has_embed("../Console/life.js")
    ENTRY("life.js", life_js),
#endif
#if __has_embed("../Console/marks.js")
    ENTRY("marks.js", marks_js),
#endif
#if __has_embed("../Console/plane.js")
    ENTRY("plane.js", plane_js),
#endif
#if __has_embed("../Console/act.js")
    ENTRY("act.js", act_js),
#endif
#if __has_embed("../Console/steps.js")
    ENTRY("steps.js", steps_js),
#endif
#if __has_embed("../Console/who.js")
    ENTRY("who.js", who_js),
#endif
#if __has_embed("../Console/words.js")
    ENTRY("words.js", words_js),
#endif
#if __has_embed("../Console/where.js")
    ENTRY("where.js", where_js),
#endif
#if __has_embed("../Console/scenario.js")
    ENTRY("scenario.js", scenario_js),
#endif
};

const profiled_console_entry *profiled_console_file(size_t index) {
    return index < sizeof(entries) / sizeof(entries[0]) ? &entries[index] : NULL;
}
