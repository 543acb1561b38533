import { availableParallelism, totalmem } from "node:os"

const GB = 1e9

/**
 * How many test files run in parallel: more than there are cores, as files often wait for a start,
 * a page or a timer; but not many more, as each first imports half of the server. Each needs up to a
 * gigabyte of memory, for a server and a browser.
 */
export const WORKERS = Math.max(2, Math.min(availableParallelism() * 2, Math.floor(totalmem() / GB)))
