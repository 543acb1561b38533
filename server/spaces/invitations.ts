import { and, eq, gt, inArray, isNull, lt, ne, or, sql, type SQL } from "drizzle-orm"
import * as v from "valibot"
import type { Database } from "#db/client.ts"
import { spaceInvitations, spaceMembers, spaces, type SpaceInvitation } from "#db/schema/spaces.ts"
import { users } from "#db/schema/users.ts"
import { Conflict, Forbidden, NotFound, Refusal, requireRow } from "#server/errors.ts"
import { createLinkToken, hashLinkToken, isLinkToken } from "#server/link-token.ts"
import { emailInvitation } from "#server/mail/mail.ts"
import type { Scope } from "#server/scope.ts"
import { ownMemberships, requireMember } from "./access.ts"
import {
  INVITATION_LIFETIME,
  InvitationId,
  MOST_MEMBERS,
  type Invite,
  type NewInvitation,
  type SpaceSummary,
} from "./contract.ts"
import { findSpace } from "./spaces.ts"

/** Of one space. */
const MOST_INVITATIONS = 200

/** The same for an invitation that never existed, was used, revoked, or has expired. */
export class NoSuchInvitation extends Refusal<"invitation-dead"> {
  constructor() {
    super(404, "NotFound", "invitation-dead")
  }
}

/**
 * Invites by the owner. Another invitation to the same address replaces the earlier one. The URL is
 * in the response and nowhere else. Throws `NotFound`, `Forbidden`, and `Conflict` for a member, for
 * one invitation too many, and for an address to which the viewer had enough emails sent. What others
 * sent there never stands in the way. An unconfirmed address is no sender: anybody could have signed up with it to write to other people.
 */
export async function inviteToSpace(
  scope: Scope<"db" | "config" | "identity" | "viewer">,
  spaceId: string,
  { role, email = "", expiresAt, maxUses }: Invite,
): Promise<NewInvitation> {
  const { token, ...kept } = createLinkToken()
  const address = email.toLowerCase()
  const sender = address === "" ? null : await scope.identity.getUser(scope.viewer.session.userId)
  if (sender?.emailVerified === false) throw new Forbidden("inviter-unconfirmed")
  return scope.db.transaction(async (tx) => {
    await requireMember({ ...scope, db: tx }, spaceId, ["owner"])
    // So that concurrent requests count one after the other.
    await lockSpace(tx, spaceId)
    const ofSpace = eq(spaceInvitations.spaceId, spaceId)
    if (address !== "") {
      const member = and(
        eq(spaceMembers.spaceId, spaceId),
        eq(sql`lower(${spaceMembers.memberEmail})`, address),
      )
      if ((await tx.$count(spaceMembers, member)) > 0) throw new Conflict("person-is-member", { email })
      await tx.delete(spaceInvitations).where(and(ofSpace, eq(spaceInvitations.email, address)))
    }
    if ((await tx.$count(spaceInvitations, ofSpace)) >= MOST_INVITATIONS)
      throw new Conflict("too-many-invitations", { most: MOST_INVITATIONS })
    const [invitation] = await tx
      .insert(spaceInvitations)
      .values({
        spaceId,
        email: address,
        role,
        ...kept,
        expiresAt: expiresAt ?? Date.now() + INVITATION_LIFETIME,
        maxUses: address === "" ? (maxUses ?? null) : 1,
        userId: scope.viewer.user._id,
      })
      .returning(columns)
    if (!invitation) throw new Error("The database returned no row for the new invitation.")
    const url = `${scope.config.origin}/join/${token}`
    if (address === "") return { invitation, url, emailed: false }
    const emailed = await announceInvitation({ ...scope, db: tx }, { ...invitation, url, spaceId })
    if (emailed === "refused") throw new Conflict("invitation-emails-open", { email })
    return { invitation, url, emailed }
  })
}

/**
 * In the language of the person who is invited, if they have an account, or else of the inviter.
 * Resolves as `emailInvitation` does.
 */
async function announceInvitation(
  scope: Scope<"db" | "config" | "viewer">,
  { email, url, spaceId, expiresAt }: { email: string; url: string; spaceId: string; expiresAt: number },
) {
  const [space] = await scope.db.select({ name: spaces.name }).from(spaces).where(eq(spaces._id, spaceId))
  const [invited] = await scope.db
    .select({ language: users.language })
    .from(users)
    .where(eq(sql`lower(${users.email})`, email))
    .limit(1)
  const { user } = scope.viewer
  return emailInvitation(scope, {
    email,
    language: invited?.language ?? user.language,
    url,
    inviter: user.name ?? user.email,
    senderId: user._id,
    space: space?.name ?? "",
    expiresAt,
  })
}

/** Throws `NotFound`, also for an invitation to a space that the viewer does not own. */
export async function revokeInvitation(scope: Scope<"db" | "viewer">, id: string): Promise<void> {
  if (!v.is(InvitationId, id)) throw new NotFound("invitation")
  const owned = scope.db
    .select({ spaceId: spaceMembers.spaceId })
    .from(spaceMembers)
    .where(and(ownMemberships(scope), eq(spaceMembers.role, "owner")))
  return removeOne(scope, and(eq(spaceInvitations._id, id), sql`${spaceInvitations.spaceId} in (${owned})`))
}

/** The person who was invited by email does not want to. Throws as `acceptReceived` does. */
export async function declineInvitation(
  scope: Scope<"db" | "identity" | "viewer">,
  id: string,
): Promise<void> {
  return removeOne(scope, await receivedInvitation(scope, id))
}

/**
 * The viewer joins the space of an invitation that was sent to their email address. Throws
 * `NotFound`, and `Forbidden` while they have not confirmed the address: only the link in the email
 * then proves that it is theirs.
 */
export async function acceptReceived(
  scope: Scope<"db" | "identity" | "viewer">,
  id: string,
): Promise<SpaceSummary> {
  return accept(scope, await receivedInvitation(scope, id), () => new NotFound("invitation"))
}

/** The viewer joins the space of the link they opened. Throws `NoSuchInvitation`, `Conflict`. */
export async function acceptByLink(scope: Scope<"db" | "viewer">, token: string): Promise<SpaceSummary> {
  return accept(scope, byToken(token), () => new NoSuchInvitation())
}

type OpenInvitation = Pick<SpaceInvitation, "spaceId" | "spaceName" | "role" | "email" | "expiresAt">

/** What the page of a link shows to anyone who has it. Throws `NoSuchInvitation`. */
export async function findByLink(scope: Scope<"db">, token: string): Promise<OpenInvitation> {
  const invitation = await findOpen(scope, token)
  if (!invitation) throw new NoSuchInvitation()
  return invitation
}

export async function findOpen({ db }: Scope<"db">, token: string): Promise<OpenInvitation | null> {
  if (!isLinkToken(token)) return null
  const [invitation] = await db
    .select({
      spaceId: spaceInvitations.spaceId,
      spaceName: spaceInvitations.spaceName,
      role: spaceInvitations.role,
      email: spaceInvitations.email,
      expiresAt: spaceInvitations.expiresAt,
    })
    .from(spaceInvitations)
    .innerJoin(spaces, eq(spaces._id, spaceInvitations.spaceId))
    .where(and(byToken(token), isUsable(), eq(spaces.trashed, false)))
  return invitation ?? null
}

function accept(
  scope: Scope<"db" | "viewer">,
  which: SQL | undefined,
  refuse: () => Error,
): Promise<SpaceSummary> {
  return scope.db.transaction(async (tx) => {
    const inside = { ...scope, db: tx }
    // A change of the space locks it before its invitations.
    const [space] = await tx
      .select({ _id: spaces._id })
      .from(spaces)
      .innerJoin(spaceInvitations, eq(spaceInvitations.spaceId, spaces._id))
      .where(and(which, isUsable(), eq(spaces.trashed, false)))
      .for("no key update", { of: spaces })
    if (!space) throw refuse()
    // The lock makes those who use a link at the same moment count one after the other.
    const [invitation] = await tx.select().from(spaceInvitations).where(and(which, isUsable())).for("update")
    if (!invitation) throw refuse()
    const { _id, spaceId, role, email, uses, barred } = invitation
    const userId = scope.viewer.user._id
    const isMember = and(eq(spaceMembers.spaceId, spaceId), eq(spaceMembers.userId, userId))
    const here = eq(spaceInvitations._id, _id)
    const isOwn = email === scope.viewer.user.email.toLowerCase()
    if ((await tx.$count(spaceMembers, isMember)) > 0) {
      // Somebody who is a member already uses nothing up.
      if (isOwn) await tx.delete(spaceInvitations).where(here)
      return findSpace(inside, spaceId)
    }
    if (barred.includes(userId)) throw new Forbidden("invitation-outlived")
    if ((await tx.$count(spaceMembers, eq(spaceMembers.spaceId, spaceId))) >= MOST_MEMBERS)
      throw new Conflict("too-many-members", { most: MOST_MEMBERS })
    await tx.insert(spaceMembers).values({ spaceId, userId, role }).onConflictDoNothing()
    if (email !== "") await tx.delete(spaceInvitations).where(here)
    else
      await tx
        .update(spaceInvitations)
        .set({ uses: uses + 1 })
        .where(here)
    return findSpace(inside, spaceId)
  })
}

/**
 * Open invitations give a member no access that was taken away from them: those to their address end,
 * and links no longer work for them.
 */
export async function barFromInvitations(
  tx: Database,
  spaceId: string,
  userId: string,
  roles: SpaceInvitation["role"][],
): Promise<void> {
  await lockSpace(tx, spaceId)
  const open = and(eq(spaceInvitations.spaceId, spaceId), inArray(spaceInvitations.role, roles))
  const address = tx
    .select({ email: sql`lower(${spaceMembers.memberEmail})` })
    .from(spaceMembers)
    .where(and(eq(spaceMembers.spaceId, spaceId), eq(spaceMembers.userId, userId)))
  await tx
    .delete(spaceInvitations)
    .where(and(open, ne(spaceInvitations.email, ""), inArray(spaceInvitations.email, address)))
  await tx
    .update(spaceInvitations)
    .set({ barred: sql`array_append(${spaceInvitations.barred}, ${userId}::uuid)` })
    .where(and(open, eq(spaceInvitations.email, "")))
}

/** Before its invitations, in the order in which a change of the space locks them. */
async function lockSpace(tx: Database, spaceId: string): Promise<void> {
  await tx.select({ _id: spaces._id }).from(spaces).where(eq(spaces._id, spaceId)).for("no key update")
}

async function removeOne({ db }: Scope<"db">, which: SQL | undefined): Promise<void> {
  await requireRow(
    db.delete(spaceInvitations).where(which).returning({ _id: spaceInvitations._id }),
    "invitation",
  )
}

/** An invitation to the viewer's address. Throws as `acceptReceived` does. */
async function receivedInvitation(
  { identity, viewer }: Scope<"identity" | "viewer">,
  id: string,
): Promise<SQL | undefined> {
  const address = viewer.user.email.toLowerCase()
  if (!v.is(InvitationId, id) || address === "") throw new NotFound("invitation")
  const person = await identity.getUser(viewer.session.userId)
  if (!person?.emailVerified) throw new Forbidden("invitation-address-unconfirmed")
  return and(eq(spaceInvitations._id, id), eq(spaceInvitations.email, address))
}

function byToken(token: string): SQL {
  if (!isLinkToken(token)) throw new NoSuchInvitation()
  return eq(spaceInvitations.tokenHash, hashLinkToken(token))
}

function isUsable(): SQL | undefined {
  return and(
    gt(spaceInvitations.expiresAt, Date.now()),
    or(isNull(spaceInvitations.maxUses), lt(spaceInvitations.uses, spaceInvitations.maxUses)),
  )
}

const columns = {
  _id: spaceInvitations._id,
  _creationTime: spaceInvitations._creationTime,
  email: spaceInvitations.email,
  role: spaceInvitations.role,
  hint: spaceInvitations.hint,
  expiresAt: spaceInvitations.expiresAt,
  maxUses: spaceInvitations.maxUses,
  uses: spaceInvitations.uses,
}
