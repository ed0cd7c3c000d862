"""holder.py CLIENT RESOURCE URL...: acquires the lock once, with a client for Python.

Prints `held` and keeps the lock until standard input ends, or prints `refused`. Exits with 77 if the
client is not installed. Started by ./exclude.
"""
import sys

TTL = 20  # seconds
name, resource, *urls = sys.argv[1:]


def redis_py():
    """The Lock of redis-py knows one server."""
    from redis import Redis

    lock = Redis.from_url(urls[0]).lock(resource, timeout=TTL)
    return lock.release if lock.acquire(blocking=False) else None


def redlock_py():
    from redlock import Redlock

    manager = Redlock(urls, retry_count=1)
    lock = manager.lock(resource, TTL * 1000)
    return (lambda: manager.unlock(lock)) if lock else None


def pottery():
    """Its key is `redlock:` and the name."""
    from pottery import Redlock
    from redis import Redis

    masters = {Redis.from_url(url) for url in urls}
    lock = Redlock(key=resource.removeprefix("redlock:"), masters=masters, auto_release_time=TTL)
    return lock.release if lock.acquire(blocking=False) else None


try:
    release = {"redis-py": redis_py, "redlock-py": redlock_py, "pottery": pottery}[name]()
except ImportError:
    sys.exit(77)
print("held" if release else "refused", flush=True)
if release:
    sys.stdin.read()
    release()
