import type { IncomingMessage, ServerResponse } from "node:http"

/** Measures how requests spend their time, for operators who trace requests across programs. */
export interface Tracing {
  /**
   * One request, until its response is complete. Continues a trusted caller's trace. `routeOf` is
   * called at the end.
   */
  request(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    routeOf: () => string | null,
    work: () => Promise<void>,
  ): Promise<void>
  /** A span within the current one: it lasts until the work is done, and marks its failure. */
  part<Result>(name: string, attributes: Attributes, work: () => Promise<Result>): Promise<Result>
  /**
   * The same for work without a single end: call the returned function when it is over, with its
   * error if it failed.
   */
  begin(name: string, attributes: Attributes): (failure?: unknown) => void
  /** Sends the remaining spans. */
  close(): Promise<void>
}

export type Attributes = Record<string, string | number | boolean>
