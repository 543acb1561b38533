import { availableParallelism } from "node:os"

/** How many test files run at once. One more than there are cores, as a file often waits: for a start, for a page, for a letter. */
export const WORKERS = availableParallelism() + 1
