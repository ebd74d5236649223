#!/usr/bin/env python3
"""Writes the manual page of a program from its own help.

    profilecli --experimental-dump-help | scripts/manual.py --section 1 --version 0.1.0 > profilecli.1

The help of the program stays the one place for its words. The date is that of SOURCE_DATE_EPOCH, so that the same
program gives the same page.
"""
import argparse
import json
import os
import sys
import time


def escaped(text):
    """`text` as roff shows it: no escape and no request."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = text.replace("^", "\\(ha").replace("~", "\\(ti").replace("\u2026", "...")
    return "\n".join("\\&" + line if line[:1] in ".'\\" else line for line in text.split("\n"))


def name(spelling):
    return ("-" if spelling["kind"] != "long" else "--") + spelling["name"]


def written(argument):
    """An argument as the synopsis shows it."""
    value = "<%s>" % argument.get("valueName", "")
    kind = argument["kind"]
    text = value if kind == "positional" else name(argument["preferredName"])
    if kind == "option":
        text += " " + value
    if argument["isRepeating"]:
        text += " ..."
    return "[%s]" % text if argument["isOptional"] else text


def shown(command):
    """The arguments that help shows, without those that each command has."""
    common = {"help", "version"}
    return [
        argument
        for argument in command.get("arguments", [])
        if argument["shouldDisplay"] and (argument.get("preferredName") or {}).get("name") not in common
    ]


def discussion(text):
    """Paragraphs; what is indented, or all of a list, stays as it is written."""
    out = []
    for paragraph in text.split("\n\n"):
        lines = paragraph.split("\n")
        if lines[0].isupper() and len(lines) > 1:
            out += [".PP", "\\fB%s\\fR" % escaped(lines[0])]
            lines = lines[1:]
        if any(line.startswith("  ") for line in lines):
            out += [".PP", ".nf", *(escaped(line) for line in lines), ".fi"]
        else:
            out += [".PP", escaped(" ".join(lines))]
    return out


def options(command):
    out = []
    for argument in shown(command):
        value = "<%s>" % argument.get("valueName", "")
        if argument["kind"] == "positional":
            term = "\\fI%s\\fR" % escaped(value)
        else:
            term = ", ".join("\\fB%s\\fR" % escaped(name(each)) for each in argument["names"])
            if argument["kind"] == "option":
                term += " \\fI%s\\fR" % escaped(value)
        text = argument.get("abstract", "")
        if argument.get("defaultValue") and argument["kind"] == "option":
            text += " (default: %s)" % argument["defaultValue"]
        out += [".TP", term, escaped(text) or "\\&"]
    return out


def commands(command, path):
    """Each command below `command`, in the order of the help."""
    for child in command.get("subcommands", []):
        if not child.get("shouldDisplay", True) or child["commandName"] == "help":
            continue
        words = path + [child["commandName"]]
        yield words, child
        yield from commands(child, words)


def page(command, section, version):
    program = command["commandName"]
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    date = time.strftime("%Y-%m-%d", time.gmtime(seconds))
    abstract = command.get("abstract", "").rstrip(".")
    out = [
        '.\\" Made by scripts/manual.py from the help of the program.',
        '.TH %s %s "%s" "ProfileLog %s" "ProfileLog"' % (program.upper(), section, date, escaped(version)),
        ".ad l",
        ".SH NAME",
        "%s \\- %s" % (program, escaped(abstract)),
        ".SH SYNOPSIS",
        "\\fB%s\\fR \\fIcommand\\fR [\\fIoptions\\fR]" % program,
        ".SH DESCRIPTION",
    ]
    out += discussion(command.get("discussion", ""))
    own = options(command)
    out += [".SH OPTIONS", *own, ".TP", "\\fB\\-\\-version\\fR", "Show the version and the commit."]
    out += [".TP", "\\fB\\-h\\fR, \\fB\\-\\-help\\fR", "Show help, also after a command."]
    out.append(".SH COMMANDS")
    for words, child in commands(command, [program]):
        synopsis = " ".join([escaped(" ".join(words))] + [escaped(written(each)) for each in shown(child)])
        out += [".SS %s" % escaped(" ".join(words[1:])), ".nh", "\\fB%s\\fR" % synopsis, ".hy"]
        out += [".PP", escaped(child.get("abstract", ""))]
        out += discussion(child["discussion"]) if child.get("discussion") else []
        out += options(child)
    other = "profilecli(1)" if program == "profiled" else "profiled(8)"
    out += [".SH SEE ALSO", "\\fB%s\\fR(%s)" % (other[:-3], other[-2]), "/usr/share/doc/profilelog"]
    return "\n".join(line for line in out if line) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--section", required=True)
    parser.add_argument("--version", required=True)
    arguments = parser.parse_args()
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(page(json.load(sys.stdin)["command"], arguments.section, arguments.version))


if __name__ == "__main__":
    main()
