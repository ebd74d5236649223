"""What the benchmarks say about the machine that they ran on."""

import os
import platform
import re


def machine():
    with open("/proc/cpuinfo") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    return f"{os.cpu_count()} cores, {model.group(1) if model else platform.machine()}"
