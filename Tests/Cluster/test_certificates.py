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
    def write(self, cluster, node, first, name):
        """A write without a key: if the connection is refused, another node must not do it in silence."""
        answer = node.ask("POST", "/v1/log/event", {"user": "u", "name": name}, timeout=30)
        self.assertLess(answer.status, 300, f"{answer}\n{node.tail()}")
        self.assertEqual(answer.headers["X-ProfileLog-Node"], first.name, node.tail())

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
                first = cluster.nodes[0]
                self.write(cluster, first, first, "one")
                cluster.wait_until_equal()
                for node in cluster.nodes[1:]:
                    self.write(cluster, node, first, "two")
                # All nodes get pairs by the new authority, then the old one is taken no more.
                for node in cluster.nodes:
                    certificates.give(node, "new")
                self.reload(cluster)
                certificates.accept("new")
                self.reload(cluster)
                certificates.take("n1")
                time.sleep(IDLE_SECONDS)
                cluster.wait_until_equal()
                for node in cluster.nodes[1:]:
                    self.write(cluster, node, first, "three")
                self.assertEqual(first.last_position(), cluster.wait_until_equal())

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
