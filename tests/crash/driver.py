# SPDX-License-Identifier: Apache-2.0
"""Kills a server again and again under parallel writes: driver.py HOLDFS DIR ROUNDS.

Each writer owns its objects and notes what was acknowledged (the reply was read, or close returned)
and the one write that was in flight when the server died. After each kill the store must pass
`holdfs check`, hold for each object the acknowledged state or that of the write in flight, and its
feed must have each acknowledged revision of the round.
"""
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

HOLDFS, DIR, ROUNDS = sys.argv[1], sys.argv[2], int(sys.argv[3])
DATA, MOUNT, LOG = DIR + "/data", DIR + "/mnt", DIR + "/log"
PATH = "/api/v1/namespaces/default/configmaps"
WRITERS, FILE_WRITERS, OBJECTS = 6, 2, 12
ABSENT = None
# A server that does not answer for so long hangs.
PATIENCE = 30


class Server:
    all = []

    def __init__(self):
        reading, writing = os.pipe()
        with open(LOG, "ab") as log:
            self.process = subprocess.Popen(
                [HOLDFS, "serve", "--data", DATA, "--mount", MOUNT, "--listen", "127.0.0.1:0",
                 "--insecure-http", "--ready-fd", str(writing)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[writing])
        self.all.append(self)
        os.close(writing)
        with os.fdopen(reading) as ready:
            line = ready.readline().strip()
        if not line:
            raise SystemExit("the server did not start again; see " + LOG)
        self.address = line.removeprefix("http://")

    def connect(self):
        return http.client.HTTPConnection(self.address, timeout=PATIENCE)

    def kill(self):
        if self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        subprocess.run(["fusermount3", "-uz", MOUNT], stderr=subprocess.DEVNULL, check=False)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(PATIENCE)
        if code:
            raise SystemExit(f"the server ended with {code} at SIGTERM; see {LOG}")


class Unsure(Exception):
    """The server went away before it answered."""


def request(connection, method, path, body=None):
    try:
        connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"})
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        if isinstance(error, TimeoutError):
            raise SystemExit("the server did not answer") from error
        raise Unsure from error


class Writer(threading.Thread):
    """Writes its own objects until the server is gone."""

    def __init__(self, number, states):
        super().__init__(daemon=True)
        self.number, self.states = number, states
        self.server = None
        self.pending = None      # (name, state it would give)
        self.acknowledged = []   # (revision, type, name) of this round
        self.fault = None
        self.writes = 0

    def choose(self):
        name = f"w{self.number}-{random.randrange(OBJECTS)}"
        if self.states.get(name) is not ABSENT and random.random() < 0.25:
            return name, ABSENT
        return name, f"{random.getrandbits(64):x}" * random.choice([1, 1, 1, 50, 2000])

    def write(self, name, state):
        """Carries out one write; returns (revision, event type)."""
        before = self.states.get(name)
        if state is ABSENT:
            code, answer = request(self.connection, "DELETE", f"{PATH}/{name}")
            wanted, kind, revision = 200, "DELETED", None
        else:
            body = {"metadata": {"name": name}, "data": {"k": state}}
            if before is ABSENT:
                code, answer = request(self.connection, "POST", PATH, body)
                wanted, kind = 201, "ADDED"
            else:
                code, answer = request(self.connection, "PUT", f"{PATH}/{name}", body)
                wanted, kind = 200, "MODIFIED"
            revision = int(answer["metadata"].get("resourceVersion", 0))
        if code != wanted:
            raise RuntimeError(f"{kind} {name}: {code} {answer}")
        return revision, kind

    def run(self):
        try:
            self.connection = self.server.connect()
            while True:
                self.pending = self.choose()
                name, state = self.pending
                revision, kind = self.write(name, state)
                self.states[name] = state
                self.pending = None
                self.writes += 1
                if revision:
                    self.acknowledged.append((revision, kind, name))
        except Unsure:
            pass
        except Exception as error:  # pylint: disable=broad-except
            self.fault = error


class FileWriter(Writer):
    """The same through the mount: acknowledged when close or unlink returns."""

    def write(self, name, state):
        path = f"{MOUNT}/namespaces/default/configmaps/{name}.yaml"
        try:
            if state is ABSENT:
                os.unlink(path)
            else:
                file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                text = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  k: '{state}'\n".encode()
                try:
                    while text:
                        text = text[os.write(file, text):]
                finally:
                    os.close(file)
        except OSError as error:
            # A mount whose server died says ENOTCONN or EIO; one that is gone already, that there is no such file.
            if self.server.process.poll() is None and not self.dying():
                raise
            raise Unsure from error
        return None, None

    def dying(self):
        time.sleep(0.5)
        return self.server.process.poll() is not None


def check():
    result = subprocess.run([HOLDFS, "check", "--data", DATA], capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(f"holdfs check: {result.returncode}\n{result.stdout}{result.stderr}")


def stored(server):
    """All objects' states, and the list's revision."""
    code, answer = request(server.connect(), "GET", PATH)
    assert code == 200, answer
    return ({item["metadata"]["name"]: item["data"]["k"] for item in answer["items"]
             if item["metadata"]["name"].startswith("w")}, int(answer["metadata"]["resourceVersion"]))


def compare(writers, have):
    """Each object has the acknowledged state, or the one in flight; takes over which it is."""
    faults = []
    for writer in writers:
        pending = writer.pending or (None, None)
        names = {name for name in list(writer.states) + list(have) if name.startswith(f"w{writer.number}-")}
        for name in names:
            wanted, got = writer.states.get(name), have.get(name)
            if got != wanted and not (name == pending[0] and got == pending[1]):
                faults.append(f"{name}: acknowledged {str(wanted)[:40]}, stored {str(got)[:40]}, in flight {str(pending)[:60]}")
            writer.states[name] = got
        writer.pending = None
    if faults:
        raise SystemExit("\n".join(faults))


def feed(server, since, until):
    """The events after one revision up to another: {revision: (type, name)}."""
    connection = server.connect()
    connection.request("GET", f"{PATH}?watch=true&resourceVersion={since}&timeoutSeconds={PATIENCE}")
    reply, events = connection.getresponse(), {}
    while not events or max(events) < until:
        line = reply.readline()
        if not line:
            break
        event = json.loads(line)
        meta = event["object"]["metadata"]
        revision = int(meta["resourceVersion"])
        if events and revision <= max(events):
            raise SystemExit(f"the feed went from {max(events)} to {revision}")
        events[revision] = (event["type"], meta["name"])
    connection.close()
    return events


def compare_feed(server, writers, since):
    acknowledged = [one for writer in writers for one in writer.acknowledged]
    if not acknowledged:
        return
    events = feed(server, since, max(revision for revision, _, _ in acknowledged))
    faults = [f"{kind} {name} was acknowledged at {revision}; the feed has {events.get(revision)}"
              for revision, kind, name in acknowledged if events.get(revision) != (kind, name)]
    if faults:
        raise SystemExit("\n".join(faults[:20]))


def one_round(server, states, since):
    writers = [Writer(n, states[n]) for n in range(WRITERS)]
    writers += [FileWriter(n, states[n]) for n in range(WRITERS, WRITERS + FILE_WRITERS)]
    for writer in writers:
        writer.server = server
        writer.start()
    time.sleep(random.uniform(0.02, 0.35))
    server.kill()
    for writer in writers:
        writer.join(PATIENCE)
        if writer.is_alive():
            raise SystemExit("a writer hangs")
        if writer.fault:
            raise SystemExit(f"refused: {writer.fault}")
    check()
    server = Server()
    have, revision = stored(server)
    compare(writers, have)
    compare_feed(server, writers, since)
    newest = max([since] + [one[0] for writer in writers for one in writer.acknowledged])
    if revision < newest:
        raise SystemExit(f"revision {newest} was acknowledged, the store is at {revision}")
    return server, revision, sum(writer.writes for writer in writers)


def main():
    seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
    print(f"seed {seed}")
    random.seed(seed)
    os.makedirs(MOUNT, exist_ok=True)
    states = [{} for _ in range(WRITERS + FILE_WRITERS)]
    server, total = Server(), 0
    try:
        since = stored(server)[1]
        for number in range(ROUNDS):
            server, since, writes = one_round(server, states, since)
            total += writes
        server.stop()
    except SystemExit:
        print(f"after {total} writes and {len(Server.all) - 1} kills")
        raise
    finally:
        for one in Server.all:
            one.kill()
    check()
    print(f"{ROUNDS} kills, {total} writes acknowledged, none lost")
    return 0 if total > ROUNDS else 1


sys.exit(main())
