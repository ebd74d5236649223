"""The faults: each does its harm while clients go on, holds it for a while, and leaves the repair to `bring_back`.

A fault is a function of the cluster, chance and `note`, which says what it hit. Its needs are named beside it.
"""

import time

import cluster as parts

FAULTS = {}


def fault(needs=None, weight=1):
    def add(body):
        FAULTS[body.__name__.replace("_", "-")] = (body, needs, weight)
        return body

    return add


def possible(cluster):
    """Names of the faults that this machine can have, and the others with the reason."""
    missing = {
        "network": None if cluster.network.can_cut else "networks cannot be cut here (it needs root, ip and nsenter)",
        "disk": None if cluster.small else "no small disk can be mounted here (it needs root)",
        "clock": None if cluster.faketime else "there is no faketime (Debian: apt-get install faketime)",
    }
    names = [name for name, (_, needs, weight) in FAULTS.items() if not missing.get(needs) for _ in range(weight)]
    return names, {name: missing[needs] for name, (_, needs, _) in FAULTS.items() if missing.get(needs)}


def leader(cluster, chance):
    return cluster.leader() or chance.choice(cluster.brokers)


def broker_of(cluster, node):
    """The broker that a node is at, as far as it says; else its own one."""
    said = str(parts.named(node.status(), "broker") or "")
    for broker in cluster.brokers:
        if said.endswith(f":{broker.port}"):
            return broker
    return cluster.brokers[cluster.nodes.index(node)]


def cut(cluster, some, others, both=True):
    for one in some:
        for other in others:
            if one is not other:
                cluster.network.cut(one.name, other.name)
                if both:
                    cluster.network.cut(other.name, one.name)


@fault()
def nothing(cluster, chance, note):
    time.sleep(2)


# MARK: - kill -9


@fault()
def kill_broker(cluster, chance, note):
    broker = chance.choice(cluster.brokers)
    note(broker.name)
    broker.kill()
    time.sleep(chance.uniform(0.2, 6))


@fault()
def kill_leader(cluster, chance, note):
    broker = leader(cluster, chance)
    note(f"{broker.name} leads")
    broker.kill()
    time.sleep(chance.uniform(2, 10))


@fault()
def kill_node(cluster, chance, note):
    node = chance.choice(cluster.nodes)
    note(node.name)
    node.kill()
    time.sleep(chance.uniform(0.2, 4))


@fault()
def kill_writer(cluster, chance, note):
    node = cluster.writer()
    note(f"{node.name} writes")
    node.kill()
    time.sleep(chance.uniform(0.5, 4))


@fault()
def kill_writer_often(cluster, chance, note):
    """Many times within one round: between the acknowledgement of the stream and the commit too."""
    for _ in range(5):
        node = cluster.writer()
        note(node.name)
        node.kill()
        time.sleep(chance.uniform(0, 0.5))
        node.start()
        node.wait_until_ready()
        time.sleep(chance.uniform(0.05, 0.6))


@fault()
def kill_node_and_its_broker(cluster, chance, note):
    node = chance.choice(cluster.nodes)
    broker = broker_of(cluster, node)
    note(f"{node.name} and {broker.name}")
    broker.kill()
    node.kill()
    time.sleep(chance.uniform(1, 8))


@fault()
def kill_writer_and_leader(cluster, chance, note):
    node, broker = cluster.writer(), leader(cluster, chance)
    note(f"{node.name} and {broker.name}")
    for each in chance.sample([node, broker], 2):
        each.kill()
    time.sleep(chance.uniform(1, 8))


@fault()
def kill_all_nodes(cluster, chance, note):
    for each in chance.sample(cluster.nodes, 3):
        each.kill()
    time.sleep(chance.uniform(0, 1))


@fault()
def kill_all_brokers(cluster, chance, note):
    for each in chance.sample(cluster.brokers, 3):
        each.kill()
    time.sleep(chance.uniform(0, 4))


@fault(weight=2)
def kill_all(cluster, chance, note):
    everything = [*cluster.brokers, *cluster.nodes]
    for each in chance.sample(everything, len(everything)):
        each.process.kill()
    for each in everything:
        each.kill()


@fault()
def kill_majority_of_brokers(cluster, chance, note):
    for each in chance.sample(cluster.brokers, 2):
        note(each.name)
        each.kill()
    time.sleep(chance.uniform(3, 14))


# MARK: - SIGSTOP beyond the deadlines, then on


@fault()
def pause_node(cluster, chance, note):
    node = chance.choice([cluster.writer(), *cluster.nodes])
    note(node.name)
    node.pause()
    time.sleep(chance.choice([0.7, 1.5, 4, 13]))
    node.resume()
    time.sleep(1)


@fault()
def pause_leader(cluster, chance, note):
    broker = leader(cluster, chance)
    note(broker.name)
    broker.pause()
    time.sleep(chance.choice([0.7, 1.5, 4, 13]))
    broker.resume()
    time.sleep(1)


@fault()
def pause_followers(cluster, chance, note):
    """No majority: publishes get no answer, and are stored later."""
    first = leader(cluster, chance)
    for each in cluster.brokers:
        if each is not first:
            each.pause()
    time.sleep(chance.choice([0.8, 2, 5, 12]))
    for each in cluster.brokers:
        each.resume()
    time.sleep(1)


@fault()
def pause_then_kill_leader(cluster, chance, note):
    broker = leader(cluster, chance)
    note(broker.name)
    broker.pause()
    time.sleep(chance.uniform(0.5, 8))
    broker.kill()
    time.sleep(chance.uniform(0, 4))


@fault()
def pause_writer_and_kill_leader(cluster, chance, note):
    node, broker = cluster.writer(), leader(cluster, chance)
    note(f"{node.name} and {broker.name}")
    node.pause()
    broker.kill()
    time.sleep(chance.uniform(2, 12))
    node.resume()
    time.sleep(1)


# MARK: - Planned stops


@fault()
def stop_node(cluster, chance, note):
    node = cluster.writer()
    note(node.name)
    code = node.stop()
    if code != 0:
        raise parts.ClusterError(f"{node.name} ended with {code} after SIGTERM:\n    {node.tail()}")
    time.sleep(chance.uniform(0, 2))


@fault()
def stop_leader(cluster, chance, note):
    broker = leader(cluster, chance)
    note(broker.name)
    broker.stop()
    time.sleep(chance.uniform(0, 4))


# MARK: - Partitions


@fault("network", weight=2)
def cut_leader_from_brokers(cluster, chance, note):
    """Nodes still reach it: who is there sits at a broker that leads nobody."""
    broker = leader(cluster, chance)
    note(broker.name)
    cut(cluster, [broker], cluster.brokers)
    time.sleep(chance.uniform(4, 25))


@fault("network")
def cut_leader_from_all(cluster, chance, note):
    broker = leader(cluster, chance)
    note(broker.name)
    cut(cluster, [broker], [*cluster.brokers, *cluster.nodes])
    time.sleep(chance.uniform(4, 14))


@fault("network", weight=2)
def cut_one_way(cluster, chance, note):
    one, other = chance.sample(cluster.brokers, 2)
    if chance.random() < 0.5:
        one = leader(cluster, chance)
        others = [each for each in cluster.brokers if each is not one]
    else:
        others = [other]
    note(f"{one.name} to {', '.join(each.name for each in others)}")
    if chance.random() < 0.5:
        cut(cluster, [one], others, both=False)
    else:
        note("the other way")
        cut(cluster, others, [one], both=False)
    time.sleep(chance.uniform(3, 14))


@fault("network")
def cut_node_from_brokers(cluster, chance, note):
    node = chance.choice([cluster.writer(), *cluster.nodes])
    note(node.name)
    cut(cluster, [node], cluster.brokers)
    time.sleep(chance.choice([1.5, 6, 14]))


@fault("network")
def cut_node_from_brokers_one_way(cluster, chance, note):
    """What the node publishes arrives, and no answer comes back; or the other way."""
    node = cluster.writer()
    note(node.name)
    if chance.random() < 0.7:
        cut(cluster, cluster.brokers, [node], both=False)
    else:
        note("the other way")
        cut(cluster, [node], cluster.brokers, both=False)
    time.sleep(chance.choice([1.5, 6, 14]))


@fault("network")
def cut_nodes_from_each_other(cluster, chance, note):
    """No write can be forwarded, and the brokers are well: the nodes write in turn."""
    cut(cluster, cluster.nodes, cluster.nodes)
    time.sleep(chance.uniform(3, 8))


@fault("network")
def cut_machine(cluster, chance, note):
    """A node and its broker as one machine, off from the others."""
    node = chance.choice(cluster.nodes)
    broker = cluster.brokers[cluster.nodes.index(node)]
    note(f"{node.name} and {broker.name}")
    cut(cluster, [node, broker], [each for each in [*cluster.nodes, *cluster.brokers] if each not in (node, broker)])
    time.sleep(chance.uniform(4, 14))


# MARK: - Disks and clocks


@fault()
def lose_folder(cluster, chance, note):
    """A broker's folder is gone. The other two have all: each acknowledgement since it died needed both of them."""
    broker = chance.choice(cluster.brokers)
    note(broker.name)
    broker.kill()
    parts.until(40, "another broker leads the stream",
                lambda: parts.IS_FAKE or cluster.leader() not in (None, broker))
    time.sleep(3)
    broker.lose_folder()
    broker.start()
    time.sleep(2)


@fault("disk")
def fill_disk_of_node(cluster, chance, note):
    cluster.fill_disk("n3")
    time.sleep(chance.uniform(3, 8))
    cluster.empty_disks()
    time.sleep(1)


@fault("disk")
def fill_disk_of_broker(cluster, chance, note):
    cluster.fill_disk("b3")
    time.sleep(chance.uniform(3, 8))
    cluster.empty_disks()
    cluster.named("b3").kill()  # a broker without space takes no writes until its next start
    time.sleep(0.5)


@fault("clock")
def shift_clock(cluster, chance, note):
    """A node whose clock is off must not write."""
    node = chance.choice(cluster.nodes)
    shift = chance.choice([-300, 300])
    note(f"{node.name} by {shift} s")
    node.kill()
    node.clock = shift
    node.start()
    time.sleep(chance.uniform(4, 9))
