# SPDX-License-Identifier: Apache-2.0
"""Checks that objects read from a server hold everything that was sent: subset.py SENT GOT.

Both files hold a List or one object in JSON. Maps may have gained keys (defaults); lists keep their
length and order; zero values may be left out; quantities may be written in canonical form.
"""
import json
import re
import sys

QUANTITY = re.compile(r"^([+-]?[0-9.]+)(m|[kMGTPE]i?|[eE][0-9]+)?$")
SCALE = {"m": 1e-3, None: 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
         "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}


def quantity(value):
    match = QUANTITY.match(str(value))
    if not match:
        return None
    scale = match.group(2)
    if scale and scale[0] in "eE" and len(scale) > 1 and scale not in SCALE:
        return float(value)
    return float(match.group(1)) * SCALE[scale]


def same(sent, got):
    if sent == got and isinstance(sent, bool) == isinstance(got, bool):
        return True
    if isinstance(sent, (str, int, float)) and isinstance(got, (str, int, float)):
        return quantity(sent) is not None and quantity(sent) == quantity(got)
    return False


def completed(item):
    """What admission adds to the lists of a pod: the service account's token."""
    return isinstance(item, dict) and (str(item.get("name", "")).startswith("kube-api-access-")
                                       or str(item.get("key", "")).startswith("node.kubernetes.io/"))


def missing(sent, got, path):
    """Yields where got lacks something of sent."""
    if isinstance(sent, dict) and isinstance(got, dict):
        for key, value in sent.items():
            if path == "" and key in ("status", "stringData"):
                continue
            yield from missing(value, got.get(key), f"{path}.{key}")
    elif (isinstance(sent, list) and isinstance(got, list) and len(sent) <= len(got)
          and all(completed(item) for item in got[len(sent):])):
        for index, (one, other) in enumerate(zip(sent, got)):
            yield from missing(one, other, f"{path}[{index}]")
    elif got is None and sent in (None, False, 0, "", [], {}):
        return  # zero values are not written
    elif not same(sent, got):
        yield f"{path}: sent {json.dumps(sent)}, got {json.dumps(got)}"


def objects(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    decoder, at, found = json.JSONDecoder(), 0, []
    while text[at:].strip():
        value, end = decoder.raw_decode(text[at:].lstrip())
        at = len(text) - len(text[at:].lstrip()) + end
        found += value["items"] if value["kind"].endswith("List") and "items" in value else [value]
    return found


def key(item):
    meta = item["metadata"]
    return item["apiVersion"], item["kind"], meta.get("namespace", ""), meta["name"]


def main():
    sent, got = objects(sys.argv[1]), {key(item): item for item in objects(sys.argv[2])}
    wrong = 0
    for item in sent:
        name = key(item)
        if name not in got and name[2] == "":
            name = (name[0], name[1], "default", name[3])
        if name not in got:
            print(f"{name} did not come back", file=sys.stderr)
            wrong += 1
            continue
        for fault in missing(item, got[name], ""):
            print(f"{' '.join(name)}: {fault}", file=sys.stderr)
            wrong += 1
    if not sent:
        print("nothing was sent", file=sys.stderr)
    return 1 if wrong or not sent else 0


sys.exit(main())
