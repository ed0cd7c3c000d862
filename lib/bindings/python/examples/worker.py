#!/usr/bin/env python3
"""A worker on several machines, for asyncio: each takes jobs, one at a time; one of them, the
leader, hands the jobs out.

    worker.py NAME redis://10.0.0.1 redis://10.0.0.2 redis://10.0.0.3
"""

import argparse
import asyncio
import signal

import quorum_redlock
import quorum_redlock.aio


async def take_job(client, number):
    async with client.lock(f"job/{number}", ttl=10) as lease:
        print(f"job {number} is done under {lease.resource}")


async def lead(election, jobs):
    """Hands out the jobs while this worker is the leader, and stands for election again if it is
    not any more."""
    while True:
        try:
            async with election.campaign() as leadership:
                print(f"the leader, in term {leadership.term}")
                for number in range(3):
                    if not leadership.valid:
                        break
                    await jobs.put(number)
                await jobs.join()
                return
        except quorum_redlock.NotHolderError:
            print("the leadership was lost")


async def work(client, jobs):
    while True:
        number = await jobs.get()
        await take_job(client, number)
        jobs.task_done()


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("nodes", nargs="+")
    arguments = parser.parse_args()

    # Ends this task, so that the locks are released before the process ends.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
    jobs = asyncio.Queue()
    async with quorum_redlock.aio.Client(arguments.nodes, name=arguments.name) as client:
        election = client.election("workers", candidate=arguments.name, ttl=5)
        worker = asyncio.create_task(work(client, jobs))
        try:
            await lead(election, jobs)
        finally:
            worker.cancel()
            await asyncio.wait([worker])


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except asyncio.CancelledError:
        print("ended by SIGTERM")
