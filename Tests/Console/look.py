"""The tokens of app.css and of docs/console-look.md, and what can be computed of them: contrast and distance."""

import re

# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
EYES = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def css_tokens(css):
    """The colours of `:root` in light, and in dark: {"light": {"paper": "#F6F7F8", …}, "dark": {…}}."""
    dark = re.search(r"@media \(prefers-color-scheme: dark\) \{\s*:root \{(.*?)\}", css, re.S)
    light = re.search(r":root \{(.*?)\}", css, re.S)
    if not light or not dark:
        raise ValueError("app.css has no :root, or none in @media (prefers-color-scheme: dark)")
    colours = re.compile(r"--([a-z0-9-]+):\s*(#[0-9A-Fa-f]{6})\b")
    return {"light": dict(colours.findall(light.group(1))), "dark": dict(colours.findall(dark.group(1)))}


def document_tokens(markdown):
    """The table of tokens: {"paper": {"light": "#F6F7F8", "dark": "#0F1215", "contrast": (17.3, 14.3) or None}, …}."""
    tokens = {}
    for line in markdown.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        name = re.fullmatch(r"`--([a-z0-9-]+)`", cells[0]) if len(cells) == 5 else None
        if not name:
            continue
        said = [cell for cell in (cells[3], cells[4])]
        light, light_contrast = re.fullmatch(r"`(#\w{6})`(?: ([\d.]+))?", cells[1]).groups()
        dark, dark_contrast = re.fullmatch(r"`(#\w{6})`(?: ([\d.]+))?", cells[2]).groups()
        tokens[name.group(1)] = {"light": light, "dark": dark, "on": said[0].strip("`").removeprefix("--"),
                                 "contrast": {"light": light_contrast, "dark": dark_contrast}}
    return tokens


def _channels(colour):
    return [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]


def _linear(colour):
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in _channels(colour)]


def contrast(a, b):
    """As WCAG 2 has it, from 1 to 21."""
    first, second = (sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), _linear(x))) + 0.05 for x in (a, b))
    return max(first, second) / min(first, second)


def distance(a, b, eye="normal"):
    """CIE76 between two colours, as an eye of that kind sees them."""
    def lab(colour):
        rgb = _linear(colour)
        rgb = [min(1, max(0, sum(m * c for m, c in zip(row, rgb)))) for row in EYES[eye]]
        xyz = [sum(m * c for m, c in zip(row, rgb)) for row in (
            (0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))]
        x, y, z = (t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116
                   for t in (v / w for v, w in zip(xyz, (0.95047, 1, 1.08883))))
        return 116 * y - 16, 500 * (x - y), 200 * (y - z)
    return sum((p - q) ** 2 for p, q in zip(lab(a), lab(b))) ** 0.5
