import type { I18n } from "@lingui/core"
import { msg, plural } from "@lingui/core/macro"
import { formatsOf } from "#app/language/formats.ts"
import type { PlanLimits } from "#server/plans/contract.ts"

/** A line for each limit of the plan, and for what every plan includes. */
export function describePlan(
  { quota, files, largestFile, chatPerMinute, concurrentReplies }: PlanLimits,
  { hasChat, i18n }: { hasChat: boolean; i18n: I18n },
): string[] {
  const { bytes, number } = formatsOf(i18n)
  const count = number(files)
  const [storage, largest] = [bytes(quota), bytes(largestFile)]
  return [
    i18n._(msg`${storage} of file storage`),
    i18n._(msg`${count} files, up to ${largest} each`),
    ...(hasChat
      ? [
          i18n._(
            msg`${plural(chatPerMinute, { one: "# chat request per minute", other: "# chat requests per minute" })}`,
          ),
          i18n._(
            msg`${plural(concurrentReplies, { 1: "One reply at a time", other: "# replies at a time" })}`,
          ),
        ]
      : [i18n._(msg`Chat, once this server has a model`)]),
    i18n._(msg`Live records on every page`),
    i18n._(msg`API keys and the HTTP API`),
  ]
}
