import { availableParallelism } from "node:os"

/** How many test files run at once. Two more than there are cores, as files often wait: for a start, for a page, for an email. */
export const WORKERS = availableParallelism() + 2
