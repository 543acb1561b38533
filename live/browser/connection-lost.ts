import { ANSWER_LOST } from "../protocol/refusal-text-contract.ts"

/** The connection was lost before the server replied: whether it acted is unknown. */
export class ConnectionLost extends Error {
  readonly reason = "answer-lost"

  constructor() {
    super(ANSWER_LOST)
    this.name = "ConnectionLost"
  }
}
