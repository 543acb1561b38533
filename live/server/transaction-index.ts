/**
 * Which transactions touched a place, by number. A hash table with chains in typed arrays, newest
 * first, like the match finder of zlib's deflate: a chain ends at the first transaction that is
 * gone, so nothing has to be removed.
 */
export class TransactionIndex {
  /**
   * The newest entry of each bucket, and for each entry the previous one in its bucket; entries are
   * counted from 1.
   */
  #heads = new Float64Array(INITIAL)
  #before = new Float64Array(INITIAL)
  #hashes = new Uint32Array(INITIAL)
  #transactions = new Float64Array(INITIAL)
  #count = 0

  /** Adds the latest transaction; `oldest` is the first that still matters. */
  add(key: string, transaction: number, oldest: number): void {
    const hash = hashOf(key)
    const capacity = this.#heads.length
    // The slot of the new entry may still hold one that matters.
    if (this.#count >= capacity && this.#transactionOf(this.#count + 1) >= oldest) this.#grow(oldest)
    this.#put(hash, transaction)
  }

  /**
   * Transactions from `oldest` on that touched the place, newest first; some of them may have
   * touched only another place with the same hash.
   */
  *newestFirst(key: string, oldest: number): Generator<number> {
    const hash = hashOf(key)
    let entry = this.#heads[this.#slot(hash)] ?? 0
    let last = -1
    while (entry > 0 && entry > this.#count - this.#heads.length) {
      const transaction = this.#transactionOf(entry)
      if (transaction < oldest) return
      // A transaction that moves a row within the place, or changes two rows there, is entered more
      // than once.
      if (this.#hashes[this.#slot(entry)] === hash && transaction !== last) yield (last = transaction)
      entry = this.#before[this.#slot(entry)] ?? 0
    }
  }

  #put(hash: number, transaction: number): void {
    const entry = ++this.#count
    const slot = this.#slot(entry)
    const bucket = this.#slot(hash)
    this.#before[slot] = this.#heads[bucket] ?? 0
    this.#hashes[slot] = hash
    this.#transactions[slot] = transaction
    this.#heads[bucket] = entry
  }

  #grow(oldest: number): void {
    const capacity = this.#heads.length
    const hashes = this.#hashes
    const transactions = this.#transactions
    const from = this.#count - capacity + 1
    const to = this.#count
    this.#heads = new Float64Array(2 * capacity)
    this.#before = new Float64Array(2 * capacity)
    this.#hashes = new Uint32Array(2 * capacity)
    this.#transactions = new Float64Array(2 * capacity)
    this.#count = 0
    for (let entry = from; entry <= to; entry++) {
      const slot = entry & (capacity - 1)
      const transaction = transactions[slot] ?? 0
      if (transaction >= oldest) this.#put(hashes[slot] ?? 0, transaction)
    }
  }

  #transactionOf(entry: number): number {
    return this.#transactions[this.#slot(entry)] ?? 0
  }

  #slot(number: number): number {
    return number & (this.#heads.length - 1)
  }
}

/** A power of two. */
const INITIAL = 1024

/** FNV-1a, over the UTF-16 units of a string. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < key.length; index++) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}
