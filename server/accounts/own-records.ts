import { and, asc, eq, getTableColumns, gt, or, sql, type SQL } from "drizzle-orm"
import type { PgColumn, PgTable, SelectedFieldsFlat } from "drizzle-orm/pg-core"
import { chatShares } from "#db/schema/chat.ts"
import { devices } from "#db/schema/devices.ts"
import { files, fileShares, fileUsage, uploads } from "#db/schema/files.ts"
import { mailOutbox } from "#db/schema/mail.ts"
import { notifications } from "#db/schema/notifications.ts"
import { operatorActs } from "#db/schema/operator.ts"
import { authAddressChange, authSecurityEvent } from "#db/schema/security.ts"
import { spaceInvitations, spaceMembers } from "#db/schema/spaces.ts"
import { waitlist } from "#db/schema/waitlist.ts"
import { eachRow } from "#server/each-row.ts"
import { ownNotifications } from "#server/notifications/access.ts"
import type { Scope } from "#server/scope.ts"
import { mayRead, type Placed } from "#server/spaces/access.ts"
import { findAddresses, namesOneOf } from "./addresses.ts"

/**
 * What is stored about the viewer besides their profile, conversations and the bytes of their
 * files: for each kind a list, or an iterable of what may be many. No secrets.
 */
export async function findOwnRecords({ db, identity, viewer }: Scope<"db" | "identity" | "viewer">) {
  const { _id: userId, clerkId } = viewer.user
  // Others may have renamed since what is in a space that they have left.
  const isVisible = (table: Placed) => mayRead({ db, viewer }, table)
  const addresses = await findAddresses({ db, identity }, viewer.user)
  const each = (table: Recorded, fields: SelectedFieldsFlat, where: SQL | undefined) =>
    rowsOf({ db }, table, fields, where)
  const [usage] = await db
    .select({ used: fileUsage.used, reserved: fileUsage.reserved })
    .from(fileUsage)
    .where(eq(fileUsage.userId, userId))
  const addressChange = await db
    .select({ nextEmail: authAddressChange.nextEmail, expiresAt: authAddressChange.expiresAt })
    .from(authAddressChange)
    .where(eq(authAddressChange.userId, clerkId))
  return {
    files: each(
      files,
      {
        _id: files._id,
        _creationTime: files._creationTime,
        fileName: files.fileName,
        mimeType: files.mimeType,
        size: files.size,
        modifiedAt: files.modifiedAt,
        trashed: files.trashed,
        spaceId: files.spaceId,
      },
      and(eq(files.userId, userId), isVisible(files)),
    ),
    shares: each(
      fileShares,
      {
        _creationTime: fileShares._creationTime,
        fileId: fileShares.fileId,
        hint: fileShares.hint,
        expiresAt: fileShares.expiresAt,
        hasPassword: sql<boolean>`${fileShares.passwordHash} is not null`,
        maxDownloads: fileShares.maxDownloads,
        downloads: fileShares.downloads,
      },
      and(eq(fileShares.userId, userId), isVisible(fileShares)),
    ),
    conversationShares: each(
      chatShares,
      {
        _creationTime: chatShares._creationTime,
        threadId: chatShares.threadId,
        hint: chatShares.hint,
        expiresAt: chatShares.expiresAt,
        hasPassword: sql<boolean>`${chatShares.passwordHash} is not null`,
        isCopy: sql<boolean>`${chatShares.title} is not null`,
      },
      and(eq(chatShares.userId, userId), isVisible(chatShares)),
    ),
    usage: usage ?? { used: 0, reserved: 0 },
    uploads: each(
      uploads,
      {
        _creationTime: uploads._creationTime,
        fileName: uploads.fileName,
        length: uploads.length,
        expiresAt: uploads.expiresAt,
      },
      eq(uploads.userId, userId),
    ),
    devices: each(
      devices,
      { _creationTime: devices._creationTime, label: devices.label },
      eq(devices.userId, userId),
    ),
    emails: each(
      mailOutbox,
      {
        _creationTime: mailOutbox._creationTime,
        kind: mailOutbox.kind,
        recipient: mailOutbox.recipient,
        subject: mailOutbox.subject,
        state: mailOutbox.state,
        sentAt: mailOutbox.sentAt,
      },
      or(
        eq(mailOutbox.userId, clerkId),
        namesOneOf(mailOutbox.recipient, mailOutbox._creationTime, addresses),
      ),
    ),
    waitlist: each(
      waitlist,
      getTableColumns(waitlist),
      namesOneOf(waitlist.email, waitlist._creationTime, addresses),
    ),
    operatorActs: each(
      operatorActs,
      {
        _creationTime: operatorActs._creationTime,
        act: operatorActs.act,
        facts: operatorActs.facts,
        detail: operatorActs.detail,
        byViewer: sql<boolean>`${operatorActs.operatorId} = ${clerkId}`,
      },
      or(
        eq(operatorActs.operatorId, clerkId),
        eq(operatorActs.subjectId, clerkId),
        namesOneOf(operatorActs.subjectEmail, operatorActs._creationTime, addresses),
      ),
    ),
    securityLog: each(
      authSecurityEvent,
      {
        _creationTime: authSecurityEvent._creationTime,
        event: authSecurityEvent.event,
        way: authSecurityEvent.way,
        facts: authSecurityEvent.facts,
        address: authSecurityEvent.address,
        userAgent: authSecurityEvent.userAgent,
      },
      eq(authSecurityEvent.userId, clerkId),
    ),
    addressChange,
    spaces: each(
      spaceMembers,
      {
        _id: spaceMembers._id,
        _creationTime: spaceMembers._creationTime,
        spaceId: spaceMembers.spaceId,
        spaceName: spaceMembers.spaceName,
        role: spaceMembers.role,
        trashed: spaceMembers.trashed,
      },
      eq(spaceMembers.userId, userId),
    ),
    spaceInvitations: each(
      spaceInvitations,
      {
        _creationTime: spaceInvitations._creationTime,
        spaceName: spaceInvitations.spaceName,
        role: spaceInvitations.role,
        email: spaceInvitations.email,
        hint: spaceInvitations.hint,
        expiresAt: spaceInvitations.expiresAt,
        uses: spaceInvitations.uses,
        byViewer: sql<boolean>`${spaceInvitations.userId} = ${userId}`,
      },
      or(
        eq(spaceInvitations.userId, userId),
        namesOneOf(spaceInvitations.email, spaceInvitations._creationTime, addresses),
      ),
    ),
    notifications: each(
      notifications,
      {
        _id: notifications._id,
        _creationTime: notifications._creationTime,
        spaceId: notifications.spaceId,
        threadId: notifications.threadId,
        messageId: notifications.messageId,
        authorName: notifications.authorName,
        excerpt: notifications.excerpt,
        read: notifications.read,
      },
      ownNotifications({ db, viewer }),
    ),
  }
}

type Recorded = PgTable & { _id: PgColumn }

async function* rowsOf(
  { db }: Scope<"db">,
  table: Recorded,
  fields: SelectedFieldsFlat,
  where: SQL | undefined,
): AsyncGenerator {
  const found = eachRow((after, most) =>
    db
      .select({ _id: table._id, fields })
      .from(table)
      .where(and(where, after === undefined ? undefined : gt(table._id, after)))
      .orderBy(asc(table._id))
      .limit(most)
      .then((rows) => rows.map((row) => ({ _id: String(row["_id"]), fields: row["fields"] }))),
  )
  for await (const row of found) yield row.fields
}
