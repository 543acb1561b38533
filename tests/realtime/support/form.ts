/** Set by `npm run test:faults`: the fault tests in their long form. */
export const LONG = process.env["FAULTS"] === "long"

/** Returns the short form's amount, or the long form's. */
export function amount(short: number, long: number): number {
  return LONG ? long : short
}

/** A seeded random generator. It prints the seed so that a failure can be reproduced. */
export function seeded(name: string) {
  return generator(printedSeed(name))
}

/** From the environment, so that a failure can be reproduced, or random. */
export function printedSeed(name: string): number {
  const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000)
  process.stdout.write(`${name}: SEED=${seed}\n`)
  return seed
}

export function generator(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    below: (limit: number) => Math.floor(next() * limit),
    chance: (probability: number) => next() < probability,
  }
}
