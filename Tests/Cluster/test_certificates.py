"""Nodes that take only clients with a certificate: they join, forward writes, and go on so with new certificates."""

import os
import signal
import tempfile
import time
import unittest

import cluster as parts

# Longer than a node keeps an unused connection to another one.
IDLE_SECONDS = 6


class CertificateTests(unittest.TestCase):
    def forward(self, cluster, name):
        """Writes without a key at the nodes that do not write, until the one that does has answered: on a busy machine
        its notes may be late, and then another one writes. One that refuses a certificate never answers."""
        def is_forwarded():
            writer = cluster.writer()
            for node in cluster.nodes:
                if node is not writer:
                    answer = node.ask("POST", "/v1/log/event", {"user": "u", "name": name}, timeout=30)
                    self.assertLess(answer.status, 300, f"{answer}\n{node.tail()}")
                    if answer.headers["X-ProfileLog-Node"] != writer.name:
                        return False
            return True

        parts.until(30, f"{name}: all nodes forward to the one that writes", is_forwarded)

    def test_nodes_show_their_certificates_and_new_ones_after_a_reload(self):
        with tempfile.TemporaryDirectory(prefix="profilelog-certificates-") as folder:
            certificates = parts.Certificates(os.path.join(folder, "certificates"))
            cluster = parts.Cluster(folder, certificates=certificates)
            for node in cluster.nodes:
                certificates.give(node, "old")
            certificates.take("n1")
            with cluster:
                # The third node joined with a copy.
                cluster.wait_until_equal()
                self.forward(cluster, "old certificates")
                # All nodes get pairs by the new authority, then the old one is taken no more.
                for node in cluster.nodes:
                    certificates.give(node, "new")
                self.reload(cluster)
                certificates.accept("new")
                self.reload(cluster)
                certificates.take("n1")
                time.sleep(IDLE_SECONDS)
                cluster.wait_until_equal()
                self.forward(cluster, "new certificates")
                cluster.wait_until_equal()

    def reload(self, cluster):
        """Lets all nodes read their files again."""
        def counts():
            found = []
            for node in cluster.nodes:
                with open(node.messages_file, errors="replace") as file:
                    found.append(file.read().count("TLS certificate, read again"))
            return found

        before = counts()
        for node in cluster.nodes:
            node.process.send_signal(signal.SIGHUP)
        parts.until(30, lambda: "the files are read again:\n" + "\n".join(each.tail(4) for each in cluster.nodes),
                    lambda: all(now > old for now, old in zip(counts(), before)))


if __name__ == "__main__":
    unittest.main()
