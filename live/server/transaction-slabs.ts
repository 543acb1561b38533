import {
  boundOfPacked,
  packTransaction,
  placeOfPacked,
  unpackTransaction,
  type Place,
  type Projection,
  type Space,
  type TableNumbers,
} from "./packed.ts"
import type { WatchedTable } from "./tables.ts"
import type { Transaction } from "./transactions.ts"

/**
 * A queue of transactions, packed into slabs outside V8's heap. As objects, the tens of thousands
 * that a ring keeps would be copied by each young-generation collection until they are promoted,
 * and then be old garbage: at 4,000 commits a second that stopped the process for 25 to 100 ms of
 * every second. A transaction is identified by its number, which increases.
 */
export class TransactionSlabs {
  readonly #tables = numberTables()
  /** Oldest first. The first slab may begin with transactions that are gone. */
  #slabs: Slab[] = []
  #first = 0
  #next = 0
  /** Unpacked since `forget`: a transaction is rarely requested only once. */
  readonly #unpacked = new Map<number, Transaction>()

  /** The number of the oldest. */
  get first(): number {
    return this.#first
  }
  /** The number that the next one will get. */
  get next(): number {
    return this.#next
  }

  append(transaction: Transaction, arrivedAt: number): void {
    if (this.#next % PER_SLAB === 0) this.#slabs.push(new Slab())
    this.#slabOf(this.#next).append(transaction, arrivedAt, this.#tables)
    this.#next += 1
  }

  get(number: number): Transaction {
    let transaction = this.#unpacked.get(number)
    if (!transaction) {
      transaction = this.#slabOf(number).unpack(number % PER_SLAB, this.#tables)
      this.#unpacked.set(number, transaction)
    }
    return transaction
  }

  /**
   * The changes of one table in a transaction, with only some columns: the others look as if they
   * had not been transmitted.
   */
  unpackColumns(number: number, projection: Projection): Transaction {
    return this.#slabOf(number).unpack(number % PER_SLAB, this.#tables, projection)
  }

  endOf(number: number): bigint {
    return this.#slabOf(number).ends[number % PER_SLAB] ?? 0n
  }

  /** Where a transaction is in the log, without unpacking it. */
  placeOf(number: number): Place {
    return this.#slabOf(number).placeOf(number % PER_SLAB)
  }

  arrivalOf(number: number): number {
    return this.#slabOf(number).arrivals[number % PER_SLAB] ?? 0
  }

  /** How many bytes a transaction takes here. */
  bytesOf(number: number): number {
    return this.#slabOf(number).bytesOf(number % PER_SLAB)
  }

  dropFirst(): void {
    this.#unpacked.delete(this.#first)
    this.#first += 1
    if (this.#first % PER_SLAB === 0) this.#slabs.shift()
  }

  /** Releases the unpacked transactions. */
  forget(): void {
    this.#unpacked.clear()
  }

  clear(): void {
    this.#slabs = []
    this.#next = this.#first = Math.ceil(this.#next / PER_SLAB) * PER_SLAB
    this.#unpacked.clear()
  }

  #slabOf(number: number): Slab {
    const slab = this.#slabs[Math.floor(number / PER_SLAB) - Math.floor(this.#first / PER_SLAB)]
    if (!slab) throw new RangeError(`Transaction ${number} is not between ${this.#first} and ${this.#next}.`)
    return slab
  }
}

const PER_SLAB = 1024
const SLAB_BYTES = 64 * 1024

class Slab {
  #space = openSpace(SLAB_BYTES)
  readonly ends = new BigUint64Array(PER_SLAB)
  readonly arrivals = new Float64Array(PER_SLAB)
  /** The start of each transaction, and the start of the next one. */
  readonly #starts = new Uint32Array(PER_SLAB + 1)
  #count = 0

  append(transaction: Transaction, arrivedAt: number, tables: TableNumbers): void {
    const index = this.#count
    const start = this.#startOf(index)
    const needed = start + boundOfPacked(transaction)
    if (needed > this.#space.bytes.length) this.#grow(Math.max(2 * this.#space.bytes.length, needed))
    this.ends[index] = transaction.end
    this.arrivals[index] = arrivedAt
    this.#starts[index + 1] = packTransaction(transaction, tables, this.#space, start)
    this.#count += 1
  }

  unpack(index: number, tables: TableNumbers, projection?: Projection): Transaction {
    return unpackTransaction(this.#space, this.#startOf(index), tables, projection)
  }

  placeOf(index: number): Place {
    return placeOfPacked(this.#space, this.#startOf(index))
  }

  bytesOf(index: number): number {
    return this.#startOf(index + 1) - this.#startOf(index)
  }

  #startOf(index: number): number {
    return this.#starts[index] ?? 0
  }

  #grow(bytes: number): void {
    const grown = openSpace(bytes)
    this.#space.bytes.copy(grown.bytes, 0, 0, this.#startOf(this.#count))
    this.#space = grown
  }
}

function openSpace(size: number): Space {
  const bytes = Buffer.allocUnsafeSlow(size)
  return { bytes, view: new DataView(bytes.buffer) }
}

function numberTables(): TableNumbers {
  const numbers = new Map<WatchedTable, number>()
  const tables: WatchedTable[] = []
  return {
    numberOf(table) {
      let number = numbers.get(table)
      if (number === undefined) {
        number = tables.push(table) - 1
        numbers.set(table, number)
      }
      return number
    },
    table(number) {
      const table = tables[number]
      if (!table) throw new RangeError(`There is no table ${number}.`)
      return table
    },
  }
}
