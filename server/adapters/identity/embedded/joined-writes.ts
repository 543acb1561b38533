import { AsyncLocalStorage } from "node:async_hooks"
import type { Database } from "#db/client.ts"

interface OpenTransaction {
  db: Database
  failure: { error: unknown } | null
}

/**
 * The database for better-auth, and `join`, which writes into the transaction that better-auth has
 * open around the caller, if any. Writes that belong to a new account use it: both are kept, or
 * neither, although better-auth continues after a failed email.
 */
export function openJoinedWrites(db: Database) {
  const current = new AsyncLocalStorage<OpenTransaction>()

  const transaction: Database["transaction"] = (work, config) =>
    db.transaction(async (inner) => {
      const open: OpenTransaction = { db: inner, failure: null }
      const result = await current.run(open, () => work(inner))
      if (open.failure) throw open.failure.error
      return result
    }, config)

  return {
    db: new Proxy(db, {
      get: (target, key, receiver) =>
        key === "transaction" ? transaction : (Reflect.get(target, key, receiver) as unknown),
    }),
    async join<Result>(write: (db: Database) => Promise<Result>): Promise<Result> {
      const open = current.getStore()
      try {
        return await write(open?.db ?? db)
      } catch (error) {
        if (open) open.failure ??= { error }
        throw error
      }
    },
  }
}
