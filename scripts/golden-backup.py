#!/usr/bin/env python3
"""Writes a backup of format 1 from a store's file, by docs/backup.md alone: for Tests/Fixtures/backup-1, once.

    scripts/golden-backup.py Tests/Fixtures/format-1/data.mdb Tests/Fixtures/backup-1

The programs must write the same segments and names. Needs mdb_dump (lmdb-utils).
"""
import hashlib
import json
import os
import subprocess
import sys


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def rows(file, table):
    text = subprocess.run(["mdb_dump", "-n", "-s", table, file], check=True, capture_output=True, text=True).stdout
    lines = [bytes.fromhex(line[1:]) for line in text.split("HEADER=END\n")[1].splitlines() if line.startswith(" ")]
    return list(zip(lines[::2], lines[1::2]))


def varints(record):
    """The four fields of a record's header: kind, user, version and time."""
    place, found = 1, []
    for _ in range(4):
        place += 1
        value = shift = 0
        while True:
            byte = record[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        found.append(value)
    return found


def main(file, target):
    meta = {key.decode(): value for key, value in rows(file, "meta")}
    records = [value for _, value in rows(file, "log")]
    names = [value for _, value in rows(file, "names")]
    assert len(records) <= 65_536 and "histories" not in meta
    head = (1).to_bytes(4, "big") + meta["uuid"] + bytes(8)

    segment = b"PLSEGMNT" + head + (1).to_bytes(8, "big") + len(records).to_bytes(8, "big")
    segment += crc32c(segment).to_bytes(4, "big")
    segment += b"".join(len(record).to_bytes(4, "big") + record for record in records)
    segment += len(records).to_bytes(8, "big")
    segment += crc32c(segment).to_bytes(4, "big")

    content = b"PLNAMES\0" + head + len(names).to_bytes(4, "big")
    content += b"".join(len(name).to_bytes(4, "big") + name for name in names)
    content += crc32c(content).to_bytes(4, "big")

    headers = [varints(record) for record in records]
    erasures = []
    for position, (kind, user, _, at) in enumerate(headers, 1):
        if kind != 7:  # userErased
            continue
        first = next(index for index, header in enumerate(headers, 1) if header[1] == user)
        erasures.append({
            "position": position, "user": user, "recorded_at": at, "history": "0" * 16, "first": first,
            "first_at": headers[first - 1][3]})

    def described(name, data):
        return {"file": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}

    def line(value):
        return json.dumps(value, separators=(",", ":"))

    last = headers[-1][3]
    manifest = line({
        "format": 1, "program": "0.1.0", "store": meta["uuid"].hex(), "history": "0" * 16, "written_at": last,
        "verified_at": None, "position": len(records), "recorded_at": last, "erased_up_to": len(records),
        "rewrites": int.from_bytes(meta.get("rewrites", b""), "big"),
        "name_erasures": int.from_bytes(meta.get("erasures", b""), "big"), "next_check": 0,
        "meta": [{"name": name, "value": value.hex()} for name, value in sorted(meta.items())],
        "names": {**described("names.seg", content), "count": len(names)}, "settings": []})[:-1] + ",\n"
    entry = {
        **described("log/00000001.seg", segment), "first": 1, "last": len(records), "first_at": headers[0][3],
        "last_at": last}
    manifest += '"segments":[\n' + line(entry) + '\n],\n"erasures":[\n'
    manifest += "".join(line(erasure) + ",\n" for erasure in erasures)[:-2] + ("\n" if erasures else "") + "],\n"
    manifest += f'"sha256":"{hashlib.sha256(manifest.encode()).hexdigest()}"}}\n'

    os.makedirs(f"{target}/log")
    for name, data in [("log/00000001.seg", segment), ("names.seg", content), ("manifest.json", manifest.encode())]:
        with open(f"{target}/{name}", "wb") as out:
            out.write(data)


main(*sys.argv[1:])
