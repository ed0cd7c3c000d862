#!/usr/bin/env python3
"""A job for cron on several machines: whichever comes first does it, the others have nothing to do.

    nightly_report.py redis://10.0.0.1 redis://10.0.0.2 redis://10.0.0.3
"""

import argparse
import sys

import quorum_redlock


def write_report(lease):
    for part in range(3):
        # Before each step that cannot be undone: after the deadline another machine may be at it.
        if not lease.valid:
            raise RuntimeError("the lock was lost")
        print(f"part {part}, with the number {lease.fencing_token}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("nodes", nargs="+")
    arguments = parser.parse_args()

    with quorum_redlock.Client(arguments.nodes) as client:
        lease = client.try_acquire("nightly-report", ttl=10, fencing=True)
        if lease is None:
            print("another machine writes the report")
            return 0
        with lease:
            write_report(lease)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except quorum_redlock.RedlockError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
