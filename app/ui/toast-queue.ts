export interface ToastWords {
  title: string
  description?: string
  tone?: "danger"
  /** Adds an undo button; the toast then stays longer. */
  undo?: () => void
}

/** A component that renders toasts. */
export interface ToastPlace {
  show(id: string, words: ToastWords): void
  close(id: string): void
}

/** Accepts toasts as soon as a page loads; they wait until there is a place to render them. */
export class ToastQueue {
  #place: ToastPlace | null = null
  #waiting = new Map<string, ToastWords>()
  #count = 0
  #ask: () => void = () => {}

  show = (words: ToastWords): string => {
    const id = `toast-${++this.#count}`
    if (this.#place) this.#place.show(id, words)
    else {
      this.#waiting.set(id, words)
      this.#ask()
    }
    return id
  }

  close = (id: string): void => {
    this.#waiting.delete(id)
    this.#place?.close(id)
  }

  /** `ask` is called when a toast waits for a place. */
  whenWaiting = (ask: () => void): void => {
    this.#ask = ask
  }

  /** Returns a function that removes the place. */
  showAt = (place: ToastPlace) => {
    this.#place = place
    for (const [id, words] of this.#waiting) place.show(id, words)
    this.#waiting.clear()
    return () => void (this.#place = null)
  }
}
