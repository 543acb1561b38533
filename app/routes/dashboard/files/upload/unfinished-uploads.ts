/**
 * What this browser remembers of an upload until it has ended, for when the page is loaded again.
 */
export interface Unfinished {
  id: string
  userId: string
  /** The page that works on it. */
  page: string
  name: string
  size: number
  /** Milliseconds; with name and size it tells the file from others. */
  lastModified: number
  /** When it was chosen, in milliseconds. */
  since: number
  /** Bytes that the server had. */
  kept: number
  url?: string | undefined
  handle?: FileSystemFileHandle | undefined
  /** It was cancelled, and the server could not be told yet. */
  isDiscarded?: true
}

const NAME = "tideline-uploads"
const STORE = "unfinished"

/** Milliseconds. The server has forgotten them by then. */
const FORGOTTEN_AFTER = 7 * 24 * 60 * 60 * 1000

/**
 * In IndexedDB, because handles of files can be kept nowhere else. Where the browser keeps nothing,
 * uploads work and cannot be continued after a reload.
 */
export function openUnfinishedUploads(page: string) {
  let opening: Promise<IDBDatabase | null> | undefined
  const open = () => (opening ??= openDatabase().catch(() => null))

  async function write(work: (store: IDBObjectStore) => void): Promise<void> {
    const database = await open()
    if (!database) return
    try {
      const transaction = database.transaction(STORE, "readwrite")
      work(transaction.objectStore(STORE))
      await ended(transaction)
    } catch {
      // The disk is full, or the browser keeps nothing for this site.
    }
  }

  return {
    keep: (uploads: readonly Unfinished[]) =>
      write((store) => {
        for (const upload of uploads) store.put(upload)
      }),
    forget: (ids: readonly string[]) =>
      write((store) => {
        for (const id of ids) store.delete(id)
      }),
    /** Says that this page is at work, until it is closed. */
    hold: () => void navigator.locks?.request(lockOf(page), () => new Promise(() => {})),
    /** The user's uploads whose page is no more: they are this page's from now on. */
    async takeOver(userId: string): Promise<Unfinished[]> {
      const database = await open()
      // Without locks nobody knows which of them another tab is working on.
      if (!database || !navigator.locks) return []
      return navigator.locks.request(NAME, async () => {
        const { held = [] } = await navigator.locks.query()
        const working = new Set(held.map(({ name }) => name))
        const all = (await read(database)).filter((upload) => !working.has(lockOf(upload.page)))
        const old = all.filter(({ since }) => since < Date.now() - FORGOTTEN_AFTER)
        await write((store) => {
          for (const { id } of old) store.delete(id)
        })
        const left = all
          .filter((upload) => upload.userId === userId && !old.includes(upload))
          .toSorted((one, other) => one.since - other.since)
        for (const upload of left) upload.page = page
        await write((store) => {
          for (const upload of left) store.put(upload)
        })
        return left
      })
    },
  }
}

function lockOf(page: string): string {
  return `${NAME} ${page}`
}

function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open(NAME, 1)
  request.addEventListener("upgradeneeded", () => {
    request.result.createObjectStore(STORE, { keyPath: "id" })
  })
  return answered(request)
}

function read(database: IDBDatabase): Promise<Unfinished[]> {
  const all: IDBRequest<Unfinished[]> = database.transaction(STORE).objectStore(STORE).getAll()
  return answered(all).catch(() => [])
}

function answered<Answer>(request: IDBRequest<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result))
    request.addEventListener("error", () => reject(request.error ?? new Error("IndexedDB gave no answer.")))
  })
}

function ended(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.addEventListener("complete", () => resolve())
    transaction.addEventListener("abort", () => reject(transaction.error ?? new Error("IndexedDB gave up.")))
  })
}
