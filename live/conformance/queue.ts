/** Milliseconds that the kit waits for the client. */
const TIMEOUT = 10_000

/** Thrown when a client violates the protocol. */
export class Unmet extends Error {}

/** Items are taken in the order in which they arrive. */
export class Queue<Item> {
  readonly #items: Item[] = []
  readonly #takers: ((item: Item) => void)[] = []

  put(item: Item): void {
    const taker = this.#takers.shift()
    if (taker) taker(item)
    else this.#items.push(item)
  }

  /** Drops all items and waiting consumers. */
  clear(): void {
    this.#items.splice(0)
    this.#takers.splice(0)
  }

  /** Throws `Unmet` if nothing arrives in time; `what` completes "The client did not". */
  take(what: string): Promise<Item> {
    const item = this.#items.shift()
    if (item !== undefined) return Promise.resolve(item)
    return new Promise((resolve, reject) => {
      const taker = (arrived: Item) => {
        clearTimeout(timer)
        resolve(arrived)
      }
      const timer = setTimeout(() => {
        if (this.#takers.includes(taker)) this.#takers.splice(this.#takers.indexOf(taker), 1)
        reject(new Unmet(`The client did not ${what} within ${TIMEOUT / 1000} s.`))
      }, TIMEOUT)
      this.#takers.push(taker)
    })
  }
}
