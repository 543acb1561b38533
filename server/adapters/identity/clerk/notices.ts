import { verifyWebhook, type WebhookEvent } from "@clerk/react-router/webhooks"
import { Unauthorized } from "#server/errors.ts"
import type { IdentityNotice } from "#server/ports/identity.ts"

/**
 * Reads Clerk's webhooks (Standard Webhooks, signed with `signingSecret`): of users, and of their
 * subscriptions.
 */
export function createNoticeReader(signingSecret: string, forget: (userId: string) => void) {
  return async (request: Request): Promise<IdentityNotice | null> => {
    const event = await verifyWebhook(request, { signingSecret }).catch((error: unknown) => {
      const problem = error instanceof Error ? error.message : "no signature"
      throw new Unauthorized("webhook-foreign", { problem })
    })
    const notice = noticeOf(event)
    if (notice) forget(notice.userId)
    return notice
  }
}

function noticeOf(event: WebhookEvent): IdentityNotice | null {
  if (event.type === "user.deleted") return event.data.id ? { kind: "deleted", userId: event.data.id } : null
  if (event.type === "user.created" || event.type === "user.updated")
    return { kind: "changed", userId: event.data.id }
  // Any event of a subscription: the plan is requested again.
  const payer = "payer" in event.data ? event.data.payer : undefined
  return payer?.user_id ? { kind: "changed", userId: payer.user_id } : null
}
