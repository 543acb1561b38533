/** The limits of a plan, which the server enforces and the pages show. */
export interface PlanLimits {
  /** Bytes of all files of a person. */
  quota: number
  /** Files of a person, including those in the trash. */
  files: number
  /** Bytes of one file. */
  largestFile: number
  /** Chat requests a minute, by person and by address. */
  chatPerMinute: number
  /** Replies that a person can have in progress. */
  concurrentReplies: number
}
