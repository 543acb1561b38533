#!/usr/bin/env python3
"""A client of Tideline's realtime protocol, version 1, and a command that follows live queries.

See README.md beside this file. docs/realtime-protocol.md of Tideline describes the protocol.
"""

import argparse
import asyncio
import functools
import json
import os
import random
import sys
import time
import urllib.parse
import uuid

import aiohttp
import socketio

ACKNOWLEDGE_EVENTS = 16
ACKNOWLEDGE_BYTES = 64 * 1024
ACKNOWLEDGE_SECONDS = 15
ITEMS_PER_MESSAGE = 50
ANSWER_SECONDS = 15


class Refused(Exception):
    """The server refused a call. `code` is one of the protocol's error codes."""

    def __init__(self, error):
        super().__init__(error.get("message", error.get("code")))
        self.code = error.get("code", "internal")
        self.retry_after = error.get("retryAfter")


class SignedOut(Exception):
    """The credential opens no socket (any more)."""


class Page:
    """The rows of one subscription. It outlives connections."""

    def __init__(self, follow, args):
        self.follow = follow
        self.args = args
        self.rows = {}
        self.order = []
        self.end = None
        self.token = None
        self.lsn = None  # how far commits were applied when the connection was lost
        self.live = False
        self.id = None
        self.kept = []  # rows of the pages after it, shown until those have been read again

    def have(self):
        if self.token is None:
            return None
        return {"token": self.token, **({"lsn": self.lsn} if self.lsn else {})}

    def forget(self):
        self.token = self.lsn = None
        self.live = False

    def apply(self, op, key, row=None):
        if op == "remove":
            self.rows.pop(key, None)
        elif op == "put":
            self.rows[key] = row
        elif key in self.rows:
            self.rows[key] = {**self.rows[key], **row}


class Follow:
    """The live rows of a query: all pages that were asked for, as one list."""

    def __init__(self, client, query, args, page_argument, changed):
        self.client = client
        self.query = query
        self.args = args
        self.page_argument = page_argument
        self.changed = changed
        self.wanted = 1
        self.pages = [Page(self, args)]

    def rows(self):
        merged = {}
        for page in reversed(self.pages):
            merged.update(page.rows)
        order = self.pages[0].order
        rows = list(merged.values())
        return sorted(rows, key=sort_key(order)) if order else rows

    def has_more(self):
        return self.pages[-1].end is not None

    def more(self):
        """Shows one more page, if there is one."""
        self.wanted += 1
        self.join()

    def join(self):
        """Lets every page begin where the one before it ends."""
        for index, page in enumerate(self.pages):
            after = self.pages[index + 1 :]
            if not page.live:
                return
            if page.end is None:
                del self.pages[index + 1 :]
                page.kept = []
                return self.client.unsubscribe(after)
            if index + 1 >= self.wanted:
                return
            if after and after[0].args.get(self.page_argument) == page.end:
                continue
            following = Page(self, {**self.args, self.page_argument: page.end})
            following.order = page.order
            kept = [each.rows for each in after] or page.kept
            following.rows, following.kept = (kept[0], kept[1:]) if kept else ({}, [])
            page.kept = []
            self.pages[index + 1 :] = [following]
            self.client.unsubscribe(after)
            self.client.subscribe([following])
            return

    def leave(self):
        self.client.leave(self)


def sort_key(order):
    """Numbers by value, texts by their bytes in UTF-8, null last in ascending order."""
    fields = list(order)
    if not any(field == "_id" for field, _ in fields):
        fields.append(["_id", fields[-1][1] if fields else "asc"])

    def compare(one, other):
        for field, direction in fields:
            left, right = one.get(field), other.get(field)
            if left == right:
                continue
            # Python compares texts by code points, which is the order of their bytes in UTF-8.
            less = right is None or (left is not None and left < right)
            return -1 if less == (direction == "asc") else 1
        return 0

    return functools.cmp_to_key(compare)


class LiveClient:
    """Keeps follows equal to the database, and reconnects by itself.

    `fetch_token` is a coroutine function that returns the response of GET /api/realtime/token; it
    raises SignedOut if there is nobody to issue one for.
    """

    def __init__(self, origin, fetch_token, name="tideline_live.py"):
        self.origin = origin
        self.fetch_token = fetch_token
        self.name = name
        self.status = "connecting"
        self.follows = []
        self.subscriptions = {}
        self.mutations = {}
        self.socket = None
        self.tasks = set()
        self.last_id = 0
        self.lsn = None
        self.closed = False
        self.runner = asyncio.ensure_future(self._run())

    # What a program calls.

    def follow(self, query, args, page_argument="after", changed=lambda follow: None):
        follow = Follow(self, query, args, page_argument, changed)
        self.follows.append(follow)
        self.subscribe(follow.pages)
        return follow

    def leave(self, follow):
        self.follows.remove(follow)
        self.unsubscribe(follow.pages)

    async def query(self, query, args):
        """Runs a query once. Raises Refused."""
        answer = await self._call("query", {"query": query, "args": args})
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["value"]

    async def mutate(self, mutation, args):
        """Calls a mutation, over as many connections as it takes; it is applied once. Raises Refused."""
        message = {"mutation": mutation, "args": args, "mutationId": str(uuid.uuid4())}
        done = asyncio.get_running_loop().create_future()
        self.mutations[message["mutationId"]] = (message, done)
        self._spawn(self._send_mutation(message, done))
        answer = await done
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["value"]

    async def close(self):
        self.closed = True
        self.runner.cancel()
        await asyncio.gather(self.runner, return_exceptions=True)
        for _, done in self.mutations.values():
            done.cancel()

    # Subscriptions.

    def subscribe(self, pages):
        if not self.socket:
            return
        items = []
        for page in pages:
            self.last_id += 1
            page.id = self.last_id
            self.subscriptions[page.id] = page
            item = {"id": page.id, "query": page.follow.query, "args": page.args}
            if page.have():
                item["have"] = page.have()
            items.append(item)
        for start in range(0, len(items), ITEMS_PER_MESSAGE):
            self._spawn(self._send_items(items[start : start + ITEMS_PER_MESSAGE]))

    def unsubscribe(self, pages):
        ids = [page.id for page in pages if self.subscriptions.pop(page.id, None)]
        if ids and self.socket:
            self._spawn(self._emit("unsubscribe", {"ids": ids}))

    async def _send_items(self, items):
        answer = await self._call("subscribe", {"subscriptions": items})
        if answer.get("error"):
            for item in items:
                self._refused(item["id"], answer["error"])
        for refusal in answer.get("refused", []):
            self._refused(refusal["id"], refusal["error"])

    def _refused(self, subscription, error):
        page = self.subscriptions.pop(subscription, None)
        if not page:
            return
        if error.get("retryAfter") is not None:
            self._spawn(self._subscribe_later(page, error["retryAfter"] / 1000))
            return
        print(f"{page.follow.query} was refused: {error['message']}", file=sys.stderr)
        if error["code"] in ("not_found", "forbidden"):
            page.rows = {}
            page.forget()
            page.follow.changed(page.follow)

    async def _subscribe_later(self, page, seconds):
        await asyncio.sleep(seconds * (1 + random.random()))
        if page.follow in self.follows and page in page.follow.pages:
            self.subscribe([page])

    # Events.

    def _received(self, name, event):
        if event["sequence"] != self.sequence + 1:
            # A gap or a repetition: nothing of it may be applied.
            self.distrusted = True
            self._spawn(self.socket.disconnect())
            return
        self.sequence = event["sequence"]
        handler = getattr(self, f"_on_{name}", None)
        if handler:
            handler(event)
        self._acknowledge(len(json.dumps(event)))

    def _on_snapshot(self, event):
        self.held.append(event)
        if event.get("more"):
            return
        held, self.held = self.held, []
        fresh = set()
        changed = []
        for part in (part for each in held for part in each["subscriptions"]):
            page = self.subscriptions.get(part["id"])
            if not page:
                continue
            if part["kind"] == "rows":
                if page.id not in fresh:
                    page.rows = {}
                fresh.add(page.id)
                page.rows.update((row["_id"], row) for row in part["rows"])
                page.order, page.end = part["order"], part["end"]
            else:
                for _, *change in part["changes"]:
                    page.apply(*change)
            page.token, page.lsn, page.live = part["token"], None, True
            changed.append(page.follow)
        self._moved(event["position"]["lsn"])
        for follow in dict.fromkeys(changed):
            follow.join()
            follow.changed(follow)

    def _on_commit(self, event):
        changed = []
        for subscription, *change in event["changes"]:
            page = self.subscriptions.get(subscription)
            if page:
                page.apply(*change)
                changed.append(page.follow)
        self._moved(event["lsn"])
        for follow in dict.fromkeys(changed):
            follow.changed(follow)

    def _on_position(self, event):
        self._moved(event["lsn"], event["lag"])

    def _moved(self, lsn, lag=0):
        self.lsn = lsn
        self.status = "stale" if lag > 0 else "live"

    def _on_reset(self, event):
        self._discard(event["ids"])
        pages = [self.subscriptions.pop(each) for each in event["ids"] if each in self.subscriptions]
        for page in pages:
            page.forget()
        self.subscribe(pages)

    def _on_revoked(self, event):
        self._discard(event["ids"])
        for each in event["ids"]:
            page = self.subscriptions.pop(each, None)
            if page and event["reason"] == "denied":
                page.rows = {}
                page.forget()
                page.follow.changed(page.follow)

    def _on_goodbye(self, event):
        self.retry_after = event["retryAfter"] or 0

    def _discard(self, ids):
        for event in self.held:
            event["subscriptions"] = [part for part in event["subscriptions"] if part["id"] not in ids]

    def _acknowledge(self, size):
        self.unacknowledged += 1
        self.unacknowledged_bytes += size
        if self.unacknowledged >= ACKNOWLEDGE_EVENTS or self.unacknowledged_bytes >= ACKNOWLEDGE_BYTES:
            self._send_acknowledgement()
        elif not self.acknowledgement:
            loop = asyncio.get_running_loop()
            self.acknowledgement = loop.call_later(ACKNOWLEDGE_SECONDS, self._send_acknowledgement)

    def _send_acknowledgement(self):
        if self.acknowledgement:
            self.acknowledgement.cancel()
        self.acknowledgement = None
        self.unacknowledged = self.unacknowledged_bytes = 0
        self._spawn(self._emit("acknowledge", {"sequence": self.sequence}))

    # Connections.

    async def _run(self):
        attempt, down_since = 0, time.monotonic()
        while not self.closed:
            wait = 0
            try:
                issued = await self.fetch_token()
                connected = await self._connection(issued)
                wait = self.retry_after / 1000
                if connected:
                    attempt, down_since = 0, time.monotonic()
            except SignedOut:
                return self._end("signed-out")
            except Refused as refusal:
                if refusal.code == "version":
                    return self._end("outdated")
                wait = (refusal.retry_after or 0) / 1000
            except (aiohttp.ClientError, asyncio.TimeoutError, socketio.exceptions.ConnectionError):
                pass
            if self.status == "live":
                self.status = "stale"
            ceiling = 2 if time.monotonic() - down_since < 30 else 10
            await asyncio.sleep(wait + random.random() * min(ceiling, 0.25 * 2**attempt))
            attempt += 1

    def _end(self, status):
        self.status = status
        if status == "signed-out":
            for follow in self.follows:
                for page in follow.pages:
                    page.rows = {}
                    page.forget()
                follow.changed(follow)
        for _, done in self.mutations.values():
            done.done() or done.set_result({"error": {"code": "unauthorized", "message": status}})

    async def _connection(self, issued):
        """One connection, from its handshake to its loss."""
        socket = socketio.AsyncClient(reconnection=False)
        gone = asyncio.Event()
        welcome = asyncio.get_running_loop().create_future()
        self.sequence = self.unacknowledged = self.unacknowledged_bytes = self.retry_after = 0
        self.acknowledgement, self.held, self.distrusted = None, [], False

        def received(name, event):
            if self.socket is socket and not self.distrusted:
                self._received(name, event)

        def accepted():
            welcome.done() or welcome.set_result(None)

        def refused(error=None):
            refusal = error.get("data") if isinstance(error, dict) else None
            welcome.done() or welcome.set_result(refusal or {"code": "unavailable", "message": str(error)})

        def ended():
            refused("The connection was lost.")
            gone.set()

        socket.on("*", received)
        socket.on("connect", accepted)
        socket.on("connect_error", refused)
        socket.on("disconnect", ended)
        auth = {"version": 1, "token": issued["token"], "client": self.name}
        try:
            # The library would wait for its timeout after a refusal.
            await socket.connect(
                self.origin, auth=auth, socketio_path="realtime", transports=["websocket"], wait=False
            )
            # Not `wait_for`, which can lose a cancellation before Python 3.12.
            await asyncio.wait({welcome}, timeout=ANSWER_SECONDS)
            refusal = welcome.result() if welcome.done() else {"code": "unavailable", "message": "No answer."}
            if refusal:
                raise Refused(refusal)
            if self.closed:
                return False
            self.socket = socket
            self._spawn(self._renew(issued["expiresAt"]))
            self.subscribe([page for follow in self.follows for page in follow.pages])
            for message, done in list(self.mutations.values()):
                self._spawn(self._send_mutation(message, done))
            await gone.wait()
        finally:
            self._lost()
            await socket.disconnect()
        return True

    def _lost(self):
        self.socket = None
        if self.acknowledgement:
            self.acknowledgement.cancel()
        for task in list(self.tasks):
            task.cancel()
        for page in self.subscriptions.values():
            if page.live:
                page.lsn, page.live = self.lsn, False
        self.subscriptions = {}
        self.held = []

    async def _renew(self, expires_at):
        while True:
            await asyncio.sleep(max(1, (expires_at / 1000 - time.time()) / 2))
            try:
                issued = await self.fetch_token()
                answer = await self._call("authenticate", {"token": issued["token"]})
            except (SignedOut, aiohttp.ClientError, asyncio.TimeoutError):
                answer = {"error": {}}
            if "error" in answer:
                return await self.socket.disconnect()
            expires_at = answer["expiresAt"]

    async def _send_mutation(self, message, done):
        if not self.socket:
            return
        answer = await self._call("mutate", message)
        self.mutations.pop(message["mutationId"], None)
        done.done() or done.set_result(answer)

    async def _call(self, name, message):
        if not self.socket:
            raise Refused({"code": "unavailable", "message": "There is no connection."})
        return await self.socket.call(name, message, timeout=ANSWER_SECONDS)

    async def _emit(self, name, message):
        if self.socket and self.socket.connected:
            await self.socket.emit(name, message)

    def _spawn(self, coroutine):
        """Runs for as long as the connection lives."""
        task = asyncio.ensure_future(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task):
        self.tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error and not isinstance(error, (Refused, asyncio.TimeoutError, socketio.exceptions.SocketIOError)):
            print(f"{type(error).__name__}: {error}", file=sys.stderr)


def token_source(origin, session):
    """Tokens for the account of TIDELINE_API_KEY."""
    key = os.environ.get("TIDELINE_API_KEY")
    if not key:
        sys.exit("Set TIDELINE_API_KEY to an API key of your account.")

    async def fetch_token():
        url = urllib.parse.urljoin(origin, "/api/realtime/token")
        timeout = aiohttp.ClientTimeout(total=10)
        async with session.get(url, headers={"Authorization": f"Bearer {key}"}, timeout=timeout) as response:
            if response.status == 401:
                raise SignedOut()
            response.raise_for_status()
            return await response.json()

    return fetch_token


async def describe(origin, session):
    async with session.get(urllib.parse.urljoin(origin, "/api/realtime.json")) as response:
        response.raise_for_status()
        return await response.json()


def page_argument_of(document, query):
    for each in document["x-queries"]:
        if each["name"] == query and each["page"]:
            return each["page"]["argument"]
    return "after"


# The command.


async def list_functions(origin):
    async with aiohttp.ClientSession() as session:
        document = await describe(origin, session)
    for title, functions in (("Queries", document["x-queries"]), ("Mutations", document["x-mutations"])):
        print(title, end="\n\n")
        for function in functions:
            schema = document["components"]["schemas"][f"{function['name']}.arguments"]
            fields = ", ".join(schema.get("properties", {}))
            print(f"  {function['name']} {{{fields}}}\n    {function['description']}\n")


async def follow_forever(origin, query, args):
    async with aiohttp.ClientSession() as session:
        client = LiveClient(origin, token_source(origin, session))

        def changed(follow):
            print(json.dumps(follow.rows(), ensure_ascii=False), flush=True)

        client.follow(query, args, changed=changed)
        await client.runner
        sys.exit(f"The client ended: {client.status}.")


async def call_once(origin, verb, name, args):
    async with aiohttp.ClientSession() as session:
        client = LiveClient(origin, token_source(origin, session))
        try:
            while not client.socket:
                if client.runner.done():
                    sys.exit(f"The client ended: {client.status}.")
                await asyncio.sleep(0.02)
            print(json.dumps(await getattr(client, verb)(name, args), ensure_ascii=False))
        except Refused as refusal:
            sys.exit(f"{refusal.code}: {refusal}")
        finally:
            await client.close()


async def obey(origin):
    """Plays the part of a client for `npm run live:conformance`: commands in, states out."""
    reader = asyncio.StreamReader(limit=2**20)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    async with aiohttp.ClientSession() as session:
        document = await describe(origin, session)
        fetch_token = token_source(origin, session)
        client, follows = None, {}

        async def report(name, outcome):
            try:
                print(json.dumps({"done": name, "value": await outcome}), flush=True)
            except Refused as refusal:
                print(json.dumps({"done": name, "error": {"code": refusal.code}}), flush=True)

        while line := await reader.readline():
            command = json.loads(line)
            verb, name = command["do"], command.get("name")
            if verb == "restart":
                if client:
                    await client.close()
                client, follows = None, {}
                continue
            if verb == "state":
                rows = {each: follow.rows() for each, follow in follows.items()}
                status = client.status if client else "connecting"
                print(json.dumps({"state": {"rows": rows, "status": status}}), flush=True)
                continue
            client = client or LiveClient(origin, fetch_token)
            if verb == "follow":
                argument = page_argument_of(document, command["query"])
                follows[name] = client.follow(command["query"], command["args"], argument)
            elif verb == "leave":
                follows.pop(name).leave()
            elif verb == "more":
                follows[name].more()
            elif verb == "query":
                asyncio.ensure_future(report(name, client.query(command["query"], command["args"])))
            elif verb == "mutate":
                asyncio.ensure_future(report(name, client.mutate(command["mutation"], command["args"])))


def main():
    parser = argparse.ArgumentParser(description="Follows a live query of Tideline, and prints its rows.")
    parser.add_argument("name", nargs="?", help="a query, such as files.list")
    parser.add_argument("args", nargs="?", default="{}", help="its arguments as JSON")
    parser.add_argument("--list", action="store_true", help="print the queries and mutations")
    parser.add_argument("--query", action="store_true", help="run the query once")
    parser.add_argument("--call", action="store_true", help="call the mutation of this name")
    parser.add_argument("--conformance", action="store_true", help="be judged by npm run live:conformance")
    given = parser.parse_args()
    origin = os.environ.get("TIDELINE_URL", "http://localhost:3000")
    try:
        if given.list:
            asyncio.run(list_functions(origin))
        elif given.conformance:
            asyncio.run(obey(origin))
        elif not given.name:
            parser.error("name a query, or use --list")
        elif given.query or given.call:
            verb = "query" if given.query else "mutate"
            asyncio.run(call_once(origin, verb, given.name, json.loads(given.args)))
        else:
            asyncio.run(follow_forever(origin, given.name, json.loads(given.args)))
    except json.JSONDecodeError:
        sys.exit(f"The arguments are not JSON: {given.args}")
    except aiohttp.ClientError as error:
        sys.exit(f"{origin} cannot be reached: {error}")
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
