/** Items of one batch. */
const MOST = 50

interface Waiting<Item, Result> {
  item: Item
  resolve(result: Result): void
  reject(reason: unknown): void
}

/**
 * Runs items with the same key in batches, one batch at a time: the next batch takes the items that
 * arrived in the meantime. All calls with one key pass the same `run`, which resolves with an
 * outcome for each item.
 */
export function createBatches() {
  const queues = new Map<string, Waiting<unknown, unknown>[]>()

  return function inBatch<Item, Result>(
    key: string,
    item: Item,
    run: (items: Item[]) => Promise<PromiseSettledResult<Result>[]>,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      const waiting = { item, resolve, reject } as Waiting<unknown, unknown>
      const queue = queues.get(key)
      if (queue) return void queue.push(waiting)
      queues.set(key, [waiting])
      void work(key, run as (items: unknown[]) => Promise<PromiseSettledResult<unknown>[]>)
    })
  }

  async function work(key: string, run: (items: unknown[]) => Promise<PromiseSettledResult<unknown>[]>) {
    const queue = queues.get(key) ?? []
    while (queue.length > 0) {
      const batch = queue.splice(0, MOST)
      const outcomes = await run(batch.map(({ item }) => item)).catch((reason: unknown) =>
        batch.map((): PromiseSettledResult<unknown> => ({ status: "rejected", reason })),
      )
      for (const [at, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes[at]
        if (outcome?.status === "fulfilled") resolve(outcome.value)
        else reject(outcome?.reason)
      }
    }
    queues.delete(key)
  }
}
