import type { Transaction } from "./transactions.ts"

/** What the stream delivers, in its order. */
type Delivery = { readonly end: bigint; readonly transaction: Transaction | null }

export interface ConfirmationOptions {
  /** Everything up to here is on as many servers as are asked for. */
  readonly confirmed: () => bigint
  /** More has to be confirmed: find out soon. */
  readonly checkNow: () => void
  readonly transaction: (transaction: Transaction) => void
  readonly advance: (lsn: bigint) => void
}

/**
 * Holds the stream back until other servers have it on disk. What has passed is in the log of every
 * server that may become the primary, so no failover takes it back.
 */
export function createConfirmation({ confirmed, checkNow, transaction, advance }: ConfirmationOptions) {
  let held: Delivery[] = []

  return {
    take(end: bigint, taken: Transaction | null): void {
      held.push({ end, transaction: taken })
      release()
    },
    release,
    /** The stream begins again from what has passed. */
    clear(): void {
      held = []
    },
    heldCount: () => held.length,
  }

  function release(): void {
    if (held.length === 0) return
    const upTo = confirmed()
    const first = held.findIndex(({ end }) => end > upTo)
    const passed = held.splice(0, first === -1 ? held.length : first)
    for (const each of passed) {
      if (each.transaction) transaction(each.transaction)
      else advance(each.end)
    }
    if (held.length > 0) checkNow()
  }
}
