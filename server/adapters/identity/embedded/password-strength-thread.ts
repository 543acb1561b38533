import { parentPort } from "node:worker_threads"
import { ZxcvbnFactory } from "@zxcvbn-ts/core"
import { adjacencyGraphs, dictionary } from "@zxcvbn-ts/language-common"

// A separate thread, because the dictionaries take a third of a second to load and a password that
// is meant to be slow takes 50 ms, for which everybody else would wait.

export interface Question {
  id: number
  password: string
  /** What the person's account says about them, which makes a bad password. */
  known: string[]
}

/** zxcvbn's score, from 0 to 4. */
export interface Estimate {
  id: number
  score: number
}

const estimator = new ZxcvbnFactory({ dictionary: { ...dictionary }, graphs: adjacencyGraphs })

parentPort?.on("message", ({ id, password, known }: Question) => {
  const { score } = estimator.check(password, known)
  parentPort?.postMessage({ id, score } satisfies Estimate)
})
