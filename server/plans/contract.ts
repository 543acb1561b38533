/** What a plan allows: the figures that the server goes by, and the pages say. */
export interface PlanLimits {
  /** Bytes that a person's files may take together. */
  quota: number
  /** Bytes of one file. */
  largestFile: number
  /** Requests to the chat, for each person and address. */
  chatPerMinute: number
  /** Answers that a person is given at the same time. */
  concurrentReplies: number
}
