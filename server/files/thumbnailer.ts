import { fork, type ChildProcess } from "node:child_process"
import { existsSync } from "node:fs"
import * as path from "node:path"
import type { Log } from "../log.ts"
import type { Delivery } from "./thumbnail-process.ts"

/** Makes small pictures of images, in processes of their own. */
export interface Thumbnailer {
  /**
   * WebP of at most 256 by 256 pixels; null for what no picture can be made of. `load` is called when it is this image's turn.
   * Throws `ThumbnailerBusy` when too much is waited for, or no process comes up; and what `load` throws.
   */
  draw(load: () => Promise<Uint8Array>): Promise<Uint8Array | null>
  close(): Promise<void>
}

/** Recognise it by its name: in development this module exists twice, once in Node and once in Vite. */
export class ThumbnailerBusy extends Error {
  override readonly name = "ThumbnailerBusy"
}

/** Processes, and so images, at once. */
const AT_ONCE = 2

/** Who asked first is forgotten: they have scrolled on. */
const MOST_WAITING = 200

/** Milliseconds. */
const LONGEST_START = 20_000
const LONGEST_DRAWING = 15_000
const LONGEST_IDLE = 30_000

interface Order {
  load: () => Promise<Uint8Array>
  resolve: (picture: Uint8Array | null) => void
  reject: (error: unknown) => void
}

/** A process starts with the first image and ends when there was none for a while. */
export function openThumbnailer({ log }: { log: Log }): Thumbnailer {
  const waiting: Order[] = []
  const workers = new Set<Worker>()
  let isClosed = false

  return {
    draw(load) {
      if (isClosed) return Promise.reject(new ThumbnailerBusy("The server is stopping."))
      const drawn = new Promise<Uint8Array | null>((resolve, reject) =>
        waiting.push({ load, resolve, reject }),
      )
      if (waiting.length > MOST_WAITING)
        waiting.shift()?.reject(new ThumbnailerBusy("Too many images are waited for."))
      serve()
      return drawn
    },
    async close() {
      isClosed = true
      for (const order of waiting.splice(0)) order.reject(new ThumbnailerBusy("The server is stopping."))
      await Promise.all([...workers].map((worker) => worker.end()))
    },
  }

  function serve() {
    const idle = [...workers].find((worker) => !worker.isBusy)
    if (idle) void work(idle)
    else if (workers.size < AT_ONCE) {
      const worker = startWorker(() => workers.delete(worker))
      workers.add(worker)
      void work(worker)
    }
  }

  /** The newest first: that is what somebody looks at now. */
  async function work(worker: Worker) {
    worker.isBusy = true
    while (worker.isAlive && !isClosed) {
      const order = waiting.pop()
      if (!order) break
      await drawOne(worker, order)
    }
    worker.isBusy = false
    if (worker.isAlive) worker.endWhenIdle()
    else if (waiting.length > 0 && !isClosed) serve()
  }

  async function drawOne(worker: Worker, { load, resolve, reject }: Order) {
    try {
      await worker.started
    } catch (error) {
      log.warn({ err: error }, "no process for thumbnails came up")
      return reject(new ThumbnailerBusy("No process came up.", { cause: error }))
    }
    try {
      resolve(await worker.draw(await load()))
    } catch (error) {
      reject(error)
    }
  }
}

type Worker = ReturnType<typeof startWorker>

function startWorker(onEnd: () => void) {
  const child = fork(findEntry(), [], {
    // Nothing of ours: neither settings nor secrets. Arenas would keep what each image took.
    env: { NODE_ENV: "production", MALLOC_ARENA_MAX: "2" },
    execArgv: [],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  })
  const ended = new Promise<void>((done) => {
    const finish = () => {
      worker.isAlive = false
      clearTimeout(idle)
      onEnd()
      done()
    }
    child.once("exit", finish)
    child.once("error", finish)
  })
  let idle: ReturnType<typeof setTimeout> | undefined
  const started = answerOf<"ready">(child, ended, LONGEST_START).then((answer) => {
    if (answer === undefined) throw new Error("The process for thumbnails did not start.")
  })
  started.catch(() => child.kill("SIGKILL"))

  const worker = {
    isBusy: false,
    isAlive: true,
    started,
    /** Null also where the image ended the process, or had to be ended with it. */
    async draw(image: Uint8Array): Promise<Uint8Array | null> {
      clearTimeout(idle)
      const delivery = answerOf<Delivery>(child, ended, LONGEST_DRAWING)
      child.send(image, () => {})
      const picture = await delivery
      if (picture === undefined) await worker.end()
      return picture ?? null
    },
    endWhenIdle() {
      idle = setTimeout(() => void worker.end(), LONGEST_IDLE)
      idle.unref()
    },
    async end() {
      worker.isAlive = false
      child.ref()
      child.kill("SIGKILL")
      await ended
    },
  }
  // A process that waits for an image must not keep ours from ending.
  child.unref()
  child.channel?.unref()
  return worker
}

/** The next message; undefined when the process ends before, or takes longer than so many milliseconds. */
function answerOf<Answer>(child: ChildProcess, ended: Promise<void>, patience: number) {
  return new Promise<Answer | undefined>((done) => {
    const timer = setTimeout(finish, patience)
    child.once("message", finish)
    void ended.then(() => finish())
    function finish(answer?: unknown) {
      clearTimeout(timer)
      child.off("message", finish)
      // The one process that sends here sends nothing else.
      done(answer as Answer | undefined)
    }
  })
}

/** Beside this file in the sources; in the build, where this file may be part of another, among the entries. */
function findEntry(): string {
  const places = ["thumbnail-process.ts", "thumbnail-process.js", "../thumbnail-process.js"]
  const found = places
    .map((place) => path.resolve(import.meta.dirname, place))
    .find((file) => existsSync(file))
  if (found === undefined) throw new Error("The process for thumbnails is not part of this build.")
  return found
}
