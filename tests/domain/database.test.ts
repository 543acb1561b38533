import { sql } from "drizzle-orm"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { openDatabase, type Database } from "#db/client.ts"
import { isOutage } from "#live/check"
import { createTestDatabase } from "../support/postgres.ts"

let url: string
/** Observes over connections that nobody ends. */
let observer: Database
let closeAll: () => Promise<void>
let product: ReturnType<typeof openDatabase>

const uncaught: unknown[] = []
const keepUncaught = (error: unknown) => uncaught.push(error)

beforeAll(async () => {
  const database = await createTestDatabase()
  url = database.url
  observer = database.db
  await observer.execute(sql`create table public.notes (text text primary key)`)
  const name = `observer ${process.pid}`
  await observer.execute(sql`select set_config('application_name', ${name}, false)`)
  product = openDatabase(url, { connections: 4 })
  process.on("uncaughtException", keepUncaught)
  closeAll = async () => {
    process.off("uncaughtException", keepUncaught)
    await product.close()
    await database.close()
  }
})

afterAll(() => closeAll())

beforeEach(() => observer.execute(sql`truncate public.notes`))

describe("a transaction whose connection is lost", () => {
  it("fails in the middle of a statement, and the process survives", async () => {
    const lost = product.db.transaction(async (tx) => {
      const pid = await backendOf(tx)
      await Promise.all([tx.execute(sql`select pg_sleep(30)`), terminateOnceAsleep(pid)])
    })
    await expect(lost).rejects.toSatisfy(isOutage)
    await turnOfTheLoop()
    expect(uncaught).toEqual([])
    expect(await note(product.db, "after")).toBe(1)
  })

  it("fails between two statements, and does not continue on another connection", async () => {
    const lost = product.db.transaction(async (tx) => {
      await note(tx, "before")
      await terminate(await backendOf(tx))
      await note(tx, "beside the transaction").catch(() => {})
      await note(tx, "also beside it")
    })
    await expect(lost).rejects.toSatisfy(isOutage)
    expect(await notes()).toEqual([])
    expect(uncaught).toEqual([])
  })

  it("fails together with the statements queued behind the running one", async () => {
    const lost = product.db.transaction(async (tx) => {
      const pid = await backendOf(tx)
      await Promise.all([
        tx.execute(sql`select pg_sleep(${30}::int)`),
        note(tx, "waited"),
        note(tx, "waited too"),
        terminateOnceAsleep(pid),
      ])
    })
    await expect(lost).rejects.toSatisfy(isOutage)
    expect(await note(product.db, "after")).toBe(1)
    expect(await notes()).toEqual(["after"])
    expect(uncaught).toEqual([])
  })
})

it("every connection works again immediately, however often all of them end under load", async () => {
  for (let round = 0; round < 25; round++) {
    let isOver = false
    const work = async (statement: () => Promise<unknown>) => {
      while (!isOver) {
        await statement().catch((error: unknown) => {
          if (!isOutage(error)) throw error
        })
      }
    }
    const plain = () => product.db.execute(sql`select ${"x".repeat(round * 40)}::text`)
    const whole = () => product.db.transaction((tx) => tx.execute(sql`select ${round}::int`))
    const running = [plain, whole, plain, whole, plain, whole, plain, whole].map((one) => work(one))
    await product.db.execute(sql`select 1`).catch(() => {})
    await observer.execute(
      sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and application_name = 'tideline'`,
    )
    isOver = true
    await Promise.all(running)
  }
  await Promise.all(Array.from({ length: 12 }, () => product.db.execute(sql`select pg_sleep(0.01)`)))
  expect(uncaught).toEqual([])
}, 60_000)

describe("a transaction", () => {
  it("commits everything or nothing", async () => {
    await product.db.transaction(async (tx) => {
      await note(tx, "one")
      await note(tx, "two")
    })
    const failed = product.db.transaction(async (tx) => {
      await note(tx, "three")
      throw new Error("not today")
    })
    await expect(failed).rejects.toThrow("not today")
    expect(await notes()).toEqual(["one", "two"])
  })

  it("reports a failed statement that its code ignored", async () => {
    await note(product.db, "taken")
    const failed = product.db.transaction(async (tx) => {
      await note(tx, "new")
      await note(tx, "taken").catch(() => {})
    })
    await expect(failed).rejects.toThrow()
    expect(await notes()).toEqual(["taken"])
  })

  it("rolls an inner transaction back and continues", async () => {
    await product.db.transaction(async (tx) => {
      await note(tx, "outer")
      await tx
        .transaction(async (inner) => {
          await note(inner, "inner")
          throw new Error("not this")
        })
        .catch(() => {})
      await tx.transaction((inner) => note(inner, "second"))
    })
    expect(await notes()).toEqual(["outer", "second"])
  })

  it("continues after a statement failed in an inner transaction, two levels down too", async () => {
    await note(product.db, "taken")
    await product.db.transaction(async (tx) => {
      await note(tx, "outer")
      await tx.transaction((inner) => note(inner, "taken")).catch(() => {})
      await tx.transaction(async (inner) => {
        await note(inner, "inner")
        await inner.transaction((innermost) => note(innermost, "taken")).catch(() => {})
      })
      await note(tx, "last")
    })
    expect(await notes()).toEqual(["inner", "last", "outer", "taken"])
  })

  it("accepts no statement after its end", async () => {
    let kept: Database | undefined
    await product.db.transaction(async (tx) => {
      kept = tx as unknown as Database
      await note(tx, "inside")
    })
    await expect(kept && note(kept, "late")).rejects.toThrow()
    expect(await notes()).toEqual(["inside"])
  })

  it("waits for a connection if all are in use", async () => {
    await Promise.all(
      Array.from({ length: 20 }, (_, at) => product.db.transaction((tx) => note(tx, `note ${at}`))),
    )
    expect(await notes()).toHaveLength(20)
  })
})

it("closing lets running transactions finish, and accepts no new ones", async () => {
  const { db, close } = openDatabase(url, { connections: 1 })
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const running = db.transaction(async (tx) => {
    await note(tx, "first")
    begin()
    await tx.execute(sql`select pg_sleep(0.1)`)
    await note(tx, "second")
  })
  await begun
  await close()
  await running
  expect(await notes()).toEqual(["first", "second"])
  await expect(note(db, "late")).rejects.toSatisfy(isOutage)
})

type Executor = Pick<Database, "execute">

async function note(db: Executor, text: string) {
  const rows = await db.execute(sql`insert into public.notes values (${text}) returning text`)
  return rows.length
}

async function notes() {
  const rows = await observer.execute<{ text: string }>(sql`select text from public.notes order by text`)
  return rows.map(({ text }) => text)
}

async function backendOf(db: Executor) {
  const [row] = await db.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`)
  return row?.pid ?? 0
}

/** Terminates a backend, and resolves once this process has noticed. */
async function terminate(pid: number) {
  await observer.execute(sql`select pg_terminate_backend(${pid}, 5000)`)
  await turnOfTheLoop()
}

async function terminateOnceAsleep(pid: number) {
  for (;;) {
    const [row] = await observer.execute<{ asleep: boolean }>(
      sql`select wait_event = 'PgSleep' as asleep from pg_stat_activity where pid = ${pid}`,
    )
    if (row?.asleep) return terminate(pid)
  }
}

/**
 * Runs a statement of the observer: its result arrives after anything that PostgreSQL sent earlier.
 */
async function turnOfTheLoop() {
  await observer.execute(sql`select 1`)
  await new Promise((resolve) => setImmediate(resolve))
}
