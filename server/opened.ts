/** What has been opened so far. `close` closes it in reverse order. */
export class Opened {
  readonly #stops: (() => Promise<void> | void)[] = []

  /** Returns `one`. */
  adopt<One>(one: One, stop: (one: One) => Promise<void> | void): One {
    this.#stops.push(() => stop(one))
    return one
  }

  async close(): Promise<void> {
    for (const stop of this.#stops.splice(0).toReversed()) await stop()
  }
}
