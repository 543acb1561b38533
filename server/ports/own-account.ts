import type { AccountOutcome } from "./account-forms.ts"
import type { KeyScope } from "./identity-contract.ts"
import type { PasskeyAttestation } from "./passkey-contract.ts"
import type { Session, Visit } from "./session.ts"
import type { Transaction } from "#db/client.ts"

/** A browser that is signed in. */
export interface AccountSession {
  id: string
  userAgent: string | null
  /** The network address that it signed in from. */
  address: string | null
  /** Milliseconds since the epoch. */
  createdAt: number
}

/** A key for programs. Only its owner knows the key itself. */
export interface AccountKey {
  id: string
  name: string
  /** Its first characters, to tell keys apart. */
  start: string
  /** Milliseconds since the epoch, like the times below. */
  createdAt: number
  usedAt: number | null
  expiresAt: number | null
  /** The network address that last used it. */
  usedFrom: string | null
  /** Null for a key without limits. */
  scopes: readonly KeyScope[] | null
}

export interface NewKey {
  name: string
  scopes: readonly KeyScope[] | null
  /** Days from now; null for a key without an end. */
  days: number | null
}

/** A passkey of an account. Its private key never leaves the person's devices. */
export interface AccountPasskey {
  id: string
  name: string
  /** Milliseconds since the epoch, like the time below. */
  createdAt: number
  usedAt: number | null
  /** Whether an app or a service keeps it on several devices. */
  isSynced: boolean
}

/** The proof that a change of the second factor requires. */
export interface FactorProof {
  /** Null for an account without a password, because its owner signs in with a provider. */
  password: string | null
  code: string
}

/** The second factor of an account, and how many recovery codes are left. */
export interface SecondFactor {
  recoveryCodes: number
}

/** `headers` set the cookies; the codes cannot be read again. */
type RecoveryCodes = { ok: true; headers: Headers; recoveryCodes: string[] }

/** The state behind a link of an address change. */
export interface AddressChangeLink {
  /** Whether it was sent to the new address. */
  isNew: boolean
  previous: string
  next: string
  /** False for an address that was never confirmed, whose link can only stop the change. */
  canConfirm: boolean
}

/** `waiting` for the other address; `expired` too if the address was taken in the meantime. */
export type AddressChangeOutcome = "waiting" | "changed" | "expired"

/**
 * A person's view of their own account, at a provider that leaves that to us. Other people's
 * sessions and keys are not there.
 */
export interface OwnAccount {
  /** The latest first. */
  listSessions(userId: string): Promise<AccountSession[]>
  /** False if there is none. */
  endSession(visit: Visit, userId: string, id: string): Promise<boolean>
  endOtherSessions(visit: Visit, userId: string, keep: string): Promise<void>
  /** All of them. For operators, in the given transaction. */
  endSessions(transaction: Transaction, userId: string): Promise<void>
  /** Every other session ends. */
  changePassword(visit: Visit, passwords: { current: string; next: string }): Promise<AccountOutcome>
  /**
   * Emails both addresses a link. The result is the same for an address that has another account.
   * `code` is required if there is a second factor.
   */
  requestAddressChange(
    visit: Visit,
    userId: string,
    input: { next: string; password: string; code: string },
  ): Promise<AccountOutcome>
  /** Null if none is waiting. */
  findAddressChange(
    userId: string,
  ): Promise<{ next: string; waitsForPrevious: boolean; waitsForNext: boolean } | null>
  /** Null for a link that has expired or was used. */
  readAddressLink(token: string): Promise<AddressChangeLink | null>
  /** `session` is that of the browser that opened the link, of any account. */
  confirmAddressChange(visit: Visit, session: Session | null, token: string): Promise<AddressChangeOutcome>
  /** Cancelled with a link of one of the addresses, or by the person. False if there is none. */
  stopAddressChange(visit: Visit, by: { token: string } | { userId: string }): Promise<boolean>
  /** False for people who sign in by a provider only. */
  hasPassword(userId: string): Promise<boolean>
  /** The person's single sign-on providers, and their names for the person. */
  listProviders(userId: string): Promise<{ issuer: string; subject: string }[]>
  /** Null if it is right. */
  checkPassword(userId: string, password: string): Promise<(AccountOutcome & { ok: false }) | null>
  /** Null if there is none, or its set-up was not finished. */
  findSecondFactor(userId: string): Promise<SecondFactor | null>
  /** Resolves to the URL for an authenticator app. It counts once a code is confirmed. */
  beginSecondFactor(
    visit: Visit,
    password: string | null,
  ): Promise<(AccountOutcome & { ok: false }) | { ok: true; headers: Headers; uri: string }>
  /** Every other session ends. */
  confirmSecondFactor(
    visit: Visit,
    input: { userId: string; code: string },
  ): Promise<(AccountOutcome & { ok: false }) | RecoveryCodes>
  /** The previous codes stop working. */
  renewRecoveryCodes(
    visit: Visit,
    proof: FactorProof,
  ): Promise<(AccountOutcome & { ok: false }) | RecoveryCodes>
  removeSecondFactor(visit: Visit, proof: FactorProof): Promise<AccountOutcome>
  /**
   * Removes the authenticator app and the passkeys. For operators, in the given transaction.
   * Sessions opened with a passkey end; others continue, and the factors that they showed no longer
   * count. `isChanged` is false if there was nothing to remove. Null for an unknown id.
   */
  removeFactors(
    transaction: Transaction,
    userId: string,
  ): Promise<{ isChanged: boolean; email: string } | null>
  /** The people with these ids who have a second factor or a passkey. */
  findFactorHolders(userIds: readonly string[]): Promise<string[]>
  /** The oldest first. */
  listPasskeys(userId: string): Promise<AccountPasskey[]>
  /**
   * `options` are WebAuthn's, in JSON, with which the browser creates a passkey; `headers` set the
   * cookie that belongs to them. Require proof of identity first.
   */
  beginPasskey(
    visit: Visit,
    userId: string,
  ): Promise<(AccountOutcome & { ok: false }) | { ok: true; headers: Headers; options: string }>
  /** With the browser's response to the options, once and within five minutes. */
  addPasskey(
    visit: Visit,
    userId: string,
    passkey: { name: string; attestation: PasskeyAttestation },
  ): Promise<AccountOutcome>
  /** False if there is none. */
  renamePasskey(userId: string, passkey: { id: string; name: string }): Promise<boolean>
  /**
   * Ends the sessions that it opened, except for `sessionId`. The factors that sessions showed no
   * longer count if it was the account's last one. False if there is none.
   */
  removePasskey(visit: Visit, passkey: { userId: string; sessionId: string; id: string }): Promise<boolean>
  listKeys(userId: string): Promise<AccountKey[]>
  /** `key` cannot be read again. Null if the person already has fifty. */
  createKey(visit: Visit, userId: string, key: NewKey): Promise<(AccountKey & { key: string }) | null>
  deleteKey(visit: Visit, userId: string, id: string): Promise<boolean>
}

/** People's pictures, at a provider that leaves that to us. */
export interface OwnPictures {
  /** Replaces an earlier one. Resolves to its URL. Throws if the provider does not know the id. */
  save(userId: string, webp: Uint8Array): Promise<string>
  /** Removing a missing picture is not an error. */
  remove(userId: string): Promise<void>
  /**
   * WebP, by the last part of its URL. Null for another person's, and for one that was replaced.
   */
  find(userId: string, pictureId: string): Promise<Uint8Array | null>
}
