import type { I18n } from "@lingui/core"
import { msg, plural } from "@lingui/core/macro"
import { formatsOf } from "#app/language/formats.ts"
import type { PlanLimits } from "#server/plans/contract.ts"

/** A line for each limit of the plan, and for what every plan has. */
export function describePlan(
  { quota, largestFile, chatPerMinute, answersAtOnce }: PlanLimits,
  { hasChat, i18n }: { hasChat: boolean; i18n: I18n },
): string[] {
  const { bytes } = formatsOf(i18n)
  const [room, largest] = [bytes(quota), bytes(largestFile)]
  return [
    i18n._(msg`${room} of file storage`),
    i18n._(msg`Files up to ${largest} each`),
    ...(hasChat
      ? [
          i18n._(
            msg`${plural(chatPerMinute, { one: "# chat request per minute", other: "# chat requests per minute" })}`,
          ),
          i18n._(
            msg`${plural(answersAtOnce, { 1: "One answer at a time", other: "# answers at the same time" })}`,
          ),
        ]
      : [i18n._(msg`Chat, once this server has a model`)]),
    i18n._(msg`Live records on every page`),
    i18n._(msg`API keys and the HTTP API`),
  ]
}
