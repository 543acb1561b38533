import { formatBytes } from "../files/contract.ts"

/** What a plan allows: the figures that the server goes by, and the pages say. */
export interface PlanLimits {
  /** Bytes that a person's files may take together. */
  quota: number
  /** Bytes of one file. */
  largestFile: number
  /** Requests to the chat, for each person and address. */
  chatPerMinute: number
  /** Answers that a person is given at the same time. */
  answersAtOnce: number
}

/** A line for each limit. The chat is left out where there is none. */
export function describeLimits(limits: PlanLimits, { hasChat }: { hasChat: boolean }): string[] {
  const { quota, largestFile, chatPerMinute, answersAtOnce } = limits
  return [
    `${formatBytes(quota)} for your files`,
    `Files up to ${formatBytes(largestFile)} each`,
    ...(hasChat ? [`${chatPerMinute} chat requests per minute`, describeAnswers(answersAtOnce)] : []),
  ]
}

function describeAnswers(count: number): string {
  return count === 1 ? "One answer at a time" : `${count} answers at the same time`
}
