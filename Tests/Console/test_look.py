"""The tokens of app.css: their contrast, how far the states are apart, and that docs/console-look.md has the same."""

import itertools
import os
import pathlib
import re
import unittest

import look

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = pathlib.Path(os.environ.get("CONSOLE_FILES", ROOT / "Sources/profiled/Console"))
GROUNDS = ("paper", "surface", "raised")
LEAST = {
    **dict.fromkeys(("text", "text-2", "accent", "ok", "warn", "bad"), 4.5),
    **dict.fromkeys(("edge", "effective", "waits", "refused", "void"), 3),
}
STATES = ("effective", "waits", "refused", "void")


class LookTests(unittest.TestCase):
    def setUp(self):
        base = (FILES / "app.css").read_text()
        self.tokens = look.css_tokens(base)
        self.css = base + (FILES / "places.css").read_text()

    def test_text_has_a_contrast_of_4_5_and_marks_and_controls_of_3_on_each_ground(self):
        for scheme, tokens in self.tokens.items():
            for (name, least), ground in itertools.product(LEAST.items(), GROUNDS):
                with self.subTest(scheme=scheme, token=name, ground=ground):
                    self.assertGreaterEqual(look.contrast(tokens[name], tokens[ground]), least)
            with self.subTest(scheme=scheme, token="past-text"):
                self.assertGreaterEqual(look.contrast(tokens["past-text"], tokens["past"]), 4.5)

    def test_two_states_are_told_apart_by_every_kind_of_eye(self):
        for (scheme, tokens), eye in itertools.product(self.tokens.items(), look.EYES):
            for a, b in itertools.combinations(STATES, 2):
                with self.subTest(scheme=scheme, eye=eye, states=(a, b)):
                    self.assertGreaterEqual(look.distance(tokens[a], tokens[b], eye), 10)

    def test_each_colour_of_the_css_has_a_row_in_the_document_with_the_same_values(self):
        said = look.document_tokens((ROOT / "docs/console-look.md").read_text())
        for scheme, tokens in self.tokens.items():
            self.assertEqual(tokens, {name: token[scheme] for name, token in said.items()}, scheme)
            for name, token in said.items():
                if token["on"] != "–":
                    with self.subTest(scheme=scheme, token=name):
                        exact = look.contrast(tokens[name], tokens[token["on"]])
                        self.assertEqual(token["contrast"][scheme], f"{int(exact * 10) / 10:.1f}")

    def test_no_rule_has_a_colour_of_its_own(self):
        rules = re.sub(r":root \{.*?\}", "", re.sub(r"/\*.*?\*/", "", self.css, flags=re.S), flags=re.S)
        colours = re.findall(r"[^{};]*:[^{};]*(?:#[0-9A-Fa-f]{3,8}\b|rgba?\(|hsla?\()[^{};]*", rules)
        # A shadow, and what lies behind a dialog, are black with some transparency in both schemes.
        self.assertEqual([c.strip() for c in colours if not re.search(r"box-shadow:.*#0004|background: #0006", c)], [])

    def test_the_size_of_a_heading_is_one_of_two_and_of_a_corner_one_of_three(self):
        sizes = set(re.findall(r"font(?:-size)?:[^;{}]*?(\d+)px", self.css))
        self.assertLessEqual(sizes, {"13", "14", "16", "20"})
        radii = set(re.findall(r"border-radius: ([^;}]+)", self.css))
        self.assertLessEqual({r for r in radii if "var(--radius)" not in r}, {"0", "2px", "50%"})

    def test_no_script_makes_html_of_text_or_sets_a_style_attribute(self):
        for file in sorted(FILES.glob("*.js")):
            found = re.findall(
                r"innerHTML|outerHTML\s*=|insertAdjacentHTML|document\.write|setAttribute\('style'|\beval\(|new Function",
                re.sub(r"^\s*//.*$", "", file.read_text(), flags=re.M))
            self.assertEqual(found, [], file.name)

    def test_only_api_js_calls_fetch(self):
        callers = [file.name for file in FILES.glob("*.js") if re.search(r"(?<![.\w])fetch\(|XMLHttpRequest|EventSource\(",
                   re.sub(r"^\s*//.*$", "", file.read_text(), flags=re.M))]
        self.assertEqual(callers, ["api.js"])

