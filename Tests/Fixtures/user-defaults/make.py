"""Writes the property lists in this folder, as the guide's extensions leave them on a device.

The coded user attributes are what Foundation's PropertyListEncoder (Swift 6.3.1) wrote for
  the guide's `enum UserAttribute { case email(String?) }`: an address, nil, nil by its newest edition, an
  address as XML;
  the same enum with Swift's own coding: an address, nil, and a further case `firstName(String)`.
"""

import datetime
import plistlib
from base64 import b64decode

GUIDE = b64decode(
    b"YnBsaXN0MDDRAQJVZW1haWxfEBFndWlkZUBleGFtcGxlLm9yZwgLEQAAAAAAAAEBAAAAAAAAAAMAAAAAAAAAAAAAAAAAAAAl"
)
GUIDE_NIL = b64decode(
    b"YnBsaXN0MDDRAQJVZW1haWxVJG51bGwICxEAAAAAAAABAQAAAAAAAAADAAAAAAAAAAAAAAAAAAAAFw=="
)
NEWEST_NIL = b64decode(
    b"YnBsaXN0MDDQCAAAAAAAAAEBAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAJ"
)
OWN = b64decode(
    b"YnBsaXN0MDDRAQJVZW1haWzRAwRSXzBfEA9vd25AZXhhbXBsZS5vcmcICxEUFwAAAAAAAAEBAAAAAAAAAAUAAAAAAAAAAAAAAAAA"
    b"AAAp"
)
OWN_NIL = b64decode(
    b"YnBsaXN0MDDRAQJVZW1haWzQCAsRAAAAAAAAAQEAAAAAAAAAAwAAAAAAAAAAAAAAAAAAABI="
)
OWN_FIRST_NAME = b64decode(
    b"YnBsaXN0MDDRAQJZZmlyc3ROYW1l0QMEUl8wYoKxW1AICxUYGwAAAAAAAAEBAAAAAAAAAAUAAAAAAAAAAAAAAAAAAAAg"
)
GUIDE_XML = b64decode(
    b"PD94bWwgdmVyc2lvbj0iMS4wIiBlbmNvZGluZz0iVVRGLTgiPz4KPCFET0NUWVBFIHBsaXN0IFBVQkxJQyAiLS8vQXBwbGUvL0RU"
    b"RCBQTElTVCAxLjAvL0VOIiAiaHR0cDovL3d3dy5hcHBsZS5jb20vRFREcy9Qcm9wZXJ0eUxpc3QtMS4wLmR0ZCI+CjxwbGlzdCB2"
    b"ZXJzaW9uPSIxLjAiPgo8ZGljdD4KCTxrZXk+ZW1haWw8L2tleT4KCTxzdHJpbmc+eG1sQGV4YW1wbGUub3JnPC9zdHJpbmc+Cjwv"
    b"ZGljdD4KPC9wbGlzdD4K"
)


def archive(field, type=0):
    """What Objective-C's NSKeyedArchiver writes for the guide's UserAttribute."""
    objects = ["$null", {"userField": plistlib.UID(0), "attributeType": type, "$class": plistlib.UID(2)}]
    objects.append({"$classes": ["UserAttribute", "NSObject"], "$classname": "UserAttribute"})
    if field is not None:
        objects.append(field)
        objects[1]["userField"] = plistlib.UID(3)
    top = {"root": plistlib.UID(1)}
    whole = {"$archiver": "NSKeyedArchiver", "$version": 100000, "$top": top, "$objects": objects}
    return plistlib.dumps(whole, fmt=plistlib.FMT_BINARY)


MOMENT = datetime.datetime(2026, 1, 31, 23, 59, 58)
TYPES = {
    "array": [1, 1.0, True, "a", [MOMENT]],
    "date": MOMENT,
    "false": False,
    "integer": 1,
    "largest": 2**63 - 1,
    "object": {"inner": {"n": 0, "r": 0.0}, "list": []},
    "real": 1.0,
    "smallest": -(2**63),
    "text": "お茶",
    "true": True,
}

GOOD = {
    "pending_custom_events": [
        {"event_name": "Completed Match Game", "Score": 10},
        {"event_name": "Viewed Session Progress"},
        {"event_name": "types", **TYPES},
        {"event_name": "Completed Match Game", "Score": 10},
    ],
    "pending_custom_attributes": [
        {"Certification Registration Email": "jane@example.org"},
        TYPES,
        {"looks like an operation": {"inc": 1}},
    ],
    "pending_user_attributes": [GUIDE, OWN, GUIDE_XML, archive("archive@example.org"), OWN_FIRST_NAME]
    + [GUIDE_NIL, NEWEST_NIL, OWN_NIL, archive(None)],
    "home_tile_priority": ["a", "b"],
    "override_api_key": "secret",
}

FAULTY = {
    "pending_custom_events": [
        {"event_name": "good"},
        {"Score": 10},
        {"event_name": 7},
        "event",
        {"event_name": "photo", "bytes": b"secret"},
        {"event_name": "n" * 300},
        {"event_name": "inf", "deep": [{"x": float("inf")}]},
        {"event_name": "large", "n": 2**63},
        b"secret",
        {"event_name": "also good"},
    ],
    "pending_custom_attributes": {"level": 7},
    "pending_user_attributes": [
        GUIDE,
        "jane@example.org",
        b"secret",
        archive("secret", 3),
        archive(17),
        plistlib.dumps({"shoeSize": "secret"}),
        plistlib.dumps({"gender": "secret"}),
        plistlib.dumps({"$archiver": "NSKeyedArchiver", "$objects": []}),
    ],
}

for name, content, format in [
    ("group.com.company.binary.plist", GOOD, plistlib.FMT_BINARY),
    ("group.com.company.xml.plist", GOOD, plistlib.FMT_XML),
    ("group.com.company.faulty.plist", FAULTY, plistlib.FMT_BINARY),
]:
    with open(name, "wb") as file:
        file.write(plistlib.dumps(content, fmt=format, sort_keys=False))
