import type { Sender } from "#server/accounts/security-contract.ts"
import type { Visit } from "#server/ports/session.ts"
import { networkOf } from "#server/transport/client-address.ts"

/** Only our server sets this header; a client's header of this name is dropped. */
export const ADDRESS_HEADER = "x-tideline-client-address"

export function senderOfCall({ headers }: { headers?: Headers | undefined }): Sender {
  return { address: headers?.get(ADDRESS_HEADER) ?? null, userAgent: headers?.get("user-agent") ?? null }
}

export function senderOfVisit({ request, address }: Visit): Sender {
  return { address, userAgent: request.headers.get("user-agent") }
}

/** For limits: all addresses of one household count together. */
export function networkOfCall({ headers }: { headers?: Headers | undefined }): string {
  return networkOf(headers?.get(ADDRESS_HEADER) ?? "unknown")
}
