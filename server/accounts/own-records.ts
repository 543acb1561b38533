import { and, eq, or, sql } from "drizzle-orm"
import { chatShares } from "#db/schema/chat.ts"
import { devices } from "#db/schema/devices.ts"
import { files, fileShares, fileUsage, uploads } from "#db/schema/files.ts"
import { mailOutbox } from "#db/schema/mail.ts"
import { notifications } from "#db/schema/notifications.ts"
import { operatorActs } from "#db/schema/operator.ts"
import { authAddressChange, authSecurityEvent } from "#db/schema/security.ts"
import { spaceInvitations, spaceMembers } from "#db/schema/spaces.ts"
import { waitlist } from "#db/schema/waitlist.ts"
import { ownNotifications } from "#server/notifications/access.ts"
import type { Scope } from "#server/scope.ts"
import { mayRead, type Placed } from "#server/spaces/access.ts"
import { findAddresses, namesOneOf } from "./addresses.ts"

/**
 * What is stored about the viewer besides their profile, conversations and the bytes of their
 * files. No secrets.
 */
export async function findOwnRecords({ db, identity, viewer }: Scope<"db" | "identity" | "viewer">) {
  const { _id: userId, clerkId } = viewer.user
  // Others may have renamed since what is in a space that they have left.
  const isVisible = (table: Placed) => mayRead({ db, viewer }, table)
  const addresses = await findAddresses({ db, identity }, viewer.user)
  const [
    listed,
    shares,
    threadShares,
    usage,
    unfinished,
    connected,
    emails,
    waiting,
    acts,
    security,
    changes,
    memberships,
    invitations,
    mentions,
  ] = await Promise.all([
    db
      .select({
        _id: files._id,
        _creationTime: files._creationTime,
        fileName: files.fileName,
        mimeType: files.mimeType,
        size: files.size,
        trashed: files.trashed,
        spaceId: files.spaceId,
      })
      .from(files)
      .where(and(eq(files.userId, userId), isVisible(files))),
    db
      .select({
        _creationTime: fileShares._creationTime,
        fileId: fileShares.fileId,
        hint: fileShares.hint,
        expiresAt: fileShares.expiresAt,
        hasPassword: sql<boolean>`${fileShares.passwordHash} is not null`,
        maxDownloads: fileShares.maxDownloads,
        downloads: fileShares.downloads,
      })
      .from(fileShares)
      .where(and(eq(fileShares.userId, userId), isVisible(fileShares))),
    db
      .select({
        _creationTime: chatShares._creationTime,
        threadId: chatShares.threadId,
        hint: chatShares.hint,
        expiresAt: chatShares.expiresAt,
        hasPassword: sql<boolean>`${chatShares.passwordHash} is not null`,
        isCopy: sql<boolean>`${chatShares.title} is not null`,
      })
      .from(chatShares)
      .where(and(eq(chatShares.userId, userId), isVisible(chatShares))),
    db
      .select({ used: fileUsage.used, reserved: fileUsage.reserved })
      .from(fileUsage)
      .where(eq(fileUsage.userId, userId)),
    db
      .select({
        _creationTime: uploads._creationTime,
        fileName: uploads.fileName,
        length: uploads.length,
        expiresAt: uploads.expiresAt,
      })
      .from(uploads)
      .where(eq(uploads.userId, userId)),
    db
      .select({ _creationTime: devices._creationTime, label: devices.label })
      .from(devices)
      .where(eq(devices.userId, userId)),
    db
      .select({
        _creationTime: mailOutbox._creationTime,
        kind: mailOutbox.kind,
        recipient: mailOutbox.recipient,
        subject: mailOutbox.subject,
        state: mailOutbox.state,
        sentAt: mailOutbox.sentAt,
      })
      .from(mailOutbox)
      .where(
        or(
          eq(mailOutbox.userId, clerkId),
          namesOneOf(mailOutbox.recipient, mailOutbox._creationTime, addresses),
        ),
      ),
    db
      .select()
      .from(waitlist)
      .where(namesOneOf(waitlist.email, waitlist._creationTime, addresses)),
    db
      .select({
        _creationTime: operatorActs._creationTime,
        act: operatorActs.act,
        facts: operatorActs.facts,
        detail: operatorActs.detail,
        byViewer: sql<boolean>`${operatorActs.operatorId} = ${clerkId}`,
      })
      .from(operatorActs)
      .where(
        or(
          eq(operatorActs.operatorId, clerkId),
          eq(operatorActs.subjectId, clerkId),
          namesOneOf(operatorActs.subjectEmail, operatorActs._creationTime, addresses),
        ),
      ),
    db
      .select({
        _creationTime: authSecurityEvent._creationTime,
        event: authSecurityEvent.event,
        way: authSecurityEvent.way,
        facts: authSecurityEvent.facts,
        address: authSecurityEvent.address,
        userAgent: authSecurityEvent.userAgent,
      })
      .from(authSecurityEvent)
      .where(eq(authSecurityEvent.userId, clerkId)),
    db
      .select({ nextEmail: authAddressChange.nextEmail, expiresAt: authAddressChange.expiresAt })
      .from(authAddressChange)
      .where(eq(authAddressChange.userId, clerkId)),
    db
      .select({
        _id: spaceMembers._id,
        _creationTime: spaceMembers._creationTime,
        spaceId: spaceMembers.spaceId,
        spaceName: spaceMembers.spaceName,
        role: spaceMembers.role,
        trashed: spaceMembers.trashed,
      })
      .from(spaceMembers)
      .where(eq(spaceMembers.userId, userId)),
    db
      .select({
        _creationTime: spaceInvitations._creationTime,
        spaceName: spaceInvitations.spaceName,
        role: spaceInvitations.role,
        email: spaceInvitations.email,
        hint: spaceInvitations.hint,
        expiresAt: spaceInvitations.expiresAt,
        uses: spaceInvitations.uses,
        byViewer: sql<boolean>`${spaceInvitations.userId} = ${userId}`,
      })
      .from(spaceInvitations)
      .where(
        or(
          eq(spaceInvitations.userId, userId),
          namesOneOf(spaceInvitations.email, spaceInvitations._creationTime, addresses),
        ),
      ),
    db
      .select({
        _id: notifications._id,
        _creationTime: notifications._creationTime,
        spaceId: notifications.spaceId,
        threadId: notifications.threadId,
        messageId: notifications.messageId,
        authorName: notifications.authorName,
        excerpt: notifications.excerpt,
        read: notifications.read,
      })
      .from(notifications)
      .where(ownNotifications({ db, viewer })),
  ])
  return {
    files: listed,
    shares,
    conversationShares: threadShares,
    usage: usage[0] ?? { used: 0, reserved: 0 },
    uploads: unfinished,
    devices: connected,
    emails,
    waitlist: waiting,
    operatorActs: acts,
    securityLog: security,
    addressChange: changes,
    spaces: memberships,
    spaceInvitations: invitations,
    notifications: mentions,
  }
}
