import { fork, type ChildProcess } from "node:child_process"
import { Unavailable } from "#server/errors.ts"
import { findEntry } from "#server/find-entry.ts"
import type { Log } from "#server/log.ts"
import type { Delivery, Order as Drawing, Shape } from "./thumbnail-process.ts"

/** Creates thumbnails in separate processes. */
export interface Thumbnailer {
  /**
   * WebP of at most 256 × 256 pixels, or exactly that if square, or JPEG of at most 2048 × 2048 for a
   * model; null if no thumbnail can be
   * created. `load` is called when it is this image's turn. Throws `Unavailable` if too many
   * wait or no process starts, and what `load` throws.
   */
  draw(load: () => Promise<Uint8Array>, shape?: Shape): Promise<Uint8Array | null>
  close(): Promise<void>
}

declare module "#server/scope.ts" {
  interface Services {
    thumbnailer: Thumbnailer
  }
}

/** Processes, and so images, at the same time. */
const AT_ONCE = 2

/** After this many failed process starts in a row, waiting requests are refused. */
const MOST_STARTS = 3

/** The oldest request is dropped: its user has scrolled on. */
const MOST_WAITING = 200

/** Milliseconds. */
const LONGEST_START = 20_000
const LONGEST_DRAWING = 25_000
const LONGEST_IDLE = 30_000

interface Order {
  load: () => Promise<Uint8Array>
  shape: Shape
  /** How many processes this image ended. */
  losses: number
  resolve: (picture: Uint8Array | null) => void
  reject: (error: unknown) => void
}

/** A process starts with the first image and ends after a while without any. */
export function openThumbnailer({ log }: { log: Log }): Thumbnailer {
  const waiting: Order[] = []
  const workers = new Set<Worker>()
  let failedStarts = 0
  let isClosed = false

  return {
    draw(load, shape = "whole") {
      if (isClosed) return Promise.reject(new Unavailable("thumbnail-not-ready"))
      const drawn = new Promise<Uint8Array | null>((resolve, reject) =>
        waiting.push({ load, shape, losses: 0, resolve, reject }),
      )
      if (waiting.length > MOST_WAITING) waiting.shift()?.reject(new Unavailable("thumbnail-not-ready"))
      serve()
      return drawn
    },
    async close() {
      isClosed = true
      refuseAll()
      await Promise.all([...workers].map((worker) => worker.end()))
    },
  }

  function refuseAll() {
    for (const order of waiting.splice(0)) order.reject(new Unavailable("thumbnail-not-ready"))
  }

  function serve() {
    const living = [...workers].filter((worker) => worker.isAlive)
    const idle = living.find((worker) => !worker.isBusy)
    if (idle) void work(idle)
    else if (living.length < AT_ONCE) {
      const worker = startWorker(() => workers.delete(worker))
      workers.add(worker)
      void work(worker)
    }
  }

  /** Newest first: that is what users are looking at now. */
  async function work(worker: Worker) {
    worker.begin()
    try {
      await worker.started
      failedStarts = 0
    } catch (error) {
      log.warn({ err: error }, "could not start a thumbnail process")
      failedStarts += 1
      if (failedStarts >= MOST_STARTS) refuseAll()
    }
    while (worker.isAlive && !isClosed) {
      const order = waiting.pop()
      if (!order) break
      await drawOne(worker, order)
    }
    worker.rest()
    if (waiting.length > 0 && !isClosed) serve()
  }

  async function drawOne(worker: Worker, order: Order) {
    try {
      const picture = await worker.draw({ image: await order.load(), shape: order.shape })
      if (picture !== undefined) order.resolve(picture)
      else if (isClosed) order.reject(new Unavailable("thumbnail-not-ready"))
      // An image that ends two processes is at fault; one process may have ended for another
      // reason.
      else if (order.losses === 0) waiting.push({ ...order, losses: 1 })
      else order.resolve(null)
    } catch (error) {
      order.reject(error)
    }
  }
}

type Worker = ReturnType<typeof startWorker>

function startWorker(onEnd: () => void) {
  const child = fork(findEntry(import.meta.dirname, "thumbnail-process"), [], {
    // No settings and no secrets. More malloc arenas would keep the memory of each image.
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
    child.on("exit", finish)
    child.on("error", finish)
  })
  let idle: ReturnType<typeof setTimeout> | undefined
  const started = answerOf<"ready">(child, ended, LONGEST_START).then(async (answer) => {
    if (answer !== undefined) return
    await worker.end()
    throw new Error(`The thumbnail process did not start within ${LONGEST_START} ms, or ended immediately.`)
  })

  const worker = {
    isBusy: false,
    isAlive: true,
    started,
    begin() {
      worker.isBusy = true
      clearTimeout(idle)
    },
    rest() {
      worker.isBusy = false
      if (worker.isAlive) idle = setTimeout(() => void worker.end(), LONGEST_IDLE).unref()
    },
    /** Null if none can be created or it takes too long; undefined if the process ended. */
    async draw(drawing: Drawing): Promise<Uint8Array | null | undefined> {
      const delivery = answerOf<Delivery>(child, ended, LONGEST_DRAWING)
      child.send(drawing, () => {})
      const picture = await delivery
      if (picture !== undefined || !worker.isAlive) return picture
      await worker.end()
      return null
    },
    async end() {
      worker.isAlive = false
      child.ref()
      child.kill("SIGKILL")
      await ended
    },
  }
  // A process that waits for an image must not keep ours running.
  child.unref()
  child.channel?.unref()
  return worker
}

/** The next message; undefined if the process ends first, or after this many milliseconds. */
function answerOf<Answer>(child: ChildProcess, ended: Promise<void>, timeout: number) {
  return new Promise<Answer | undefined>((done) => {
    const timer = setTimeout(finish, timeout)
    child.once("message", finish)
    void ended.then(() => finish())
    function finish(answer?: unknown) {
      clearTimeout(timer)
      child.off("message", finish)
      // Only our own process sends messages here.
      done(answer as Answer | undefined)
    }
  })
}
