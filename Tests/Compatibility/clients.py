"""Imports clients from PyPI. All of them are the package `braze`, so each is in a folder of its own."""

import asyncio
import contextlib
import importlib
import os
import sys
import types

import requests


@contextlib.contextmanager
def _coroutine_decorator():
    """`asyncio.coroutine` while a client is imported.

    braze-client 2.3.3 requires tenacity before 6, which decorates its asynchronous retries with it. Python 3.11 and
    later have no such decorator. The client retries synchronously, so this is never called, and nothing that is sent
    depends on it.
    """
    if hasattr(asyncio, "coroutine"):
        yield
        return
    asyncio.coroutine = types.coroutine
    try:
        yield
    finally:
        del asyncio.coroutine


def load(client, module):
    """`module` of the client from PyPI that is called `client`."""
    folder = os.path.join(os.environ["COMPATIBILITY_CLIENTS"], client)
    sys.path.insert(0, folder)
    before = set(sys.modules)
    try:
        with _coroutine_decorator():
            return importlib.import_module(module)
    finally:
        sys.path.remove(folder)
        for name in set(sys.modules) - before:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(folder):
                del sys.modules[name]


class Patient(requests.adapters.HTTPAdapter):
    """Waits longer than 2 seconds for an answer, as a busy machine needs; counts and keeps requests."""

    def __init__(self, timeout=60):
        super().__init__()
        self.timeout = timeout
        self.sent = []

    def send(self, request, **options):
        self.sent.append(request)
        if self.timeout is not None:
            options["timeout"] = self.timeout
        return super().send(request, **options)
