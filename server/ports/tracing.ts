import type { IncomingMessage, ServerResponse } from "node:http"

/** Where the time of a request goes, for operators who trace requests across programs. */
export interface Tracing {
  /**
   * One request, until its answer is done. It goes on from where a trusted sender says that it
   * began. `routeOf` is asked at the end.
   */
  request(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    routeOf: () => string | null,
    work: () => Promise<void>,
  ): Promise<void>
  /**
   * A part of what is going on: it lasts until the work is done, and what fails in it is marked.
   */
  part<Result>(name: string, attributes: Attributes, work: () => Promise<Result>): Promise<Result>
  /**
   * The same for what has no one end: call what is returned when it is over, with what it failed
   * of.
   */
  begin(name: string, attributes: Attributes): (failure?: unknown) => void
  /** Sends what was not sent yet. */
  close(): Promise<void>
}

export type Attributes = Record<string, string | number | boolean>
