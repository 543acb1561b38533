import { linkOperations } from "#server/links/operations-contract.ts"
import { ShareThread, ThreadId, ThreadShareRow } from "./contract.ts"

export const threadShareOperations = linkOperations("chat", {
  tag: "Chat",
  missing: "conversation",
  of: { threadId: ThreadId },
  limits: ShareThread.entries,
  row: ThreadShareRow,
  at: { thing: "chat/threads/:threadId", link: "chat/shares" },
  ids: {
    list: "listConversationShares",
    probe: "probeConversationShares",
    create: "shareConversation",
    revoke: "revokeConversationShare",
  },
  refuses: "too-many-conversation-links",
})
