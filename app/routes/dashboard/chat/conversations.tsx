import { Chat } from "@ai-sdk/react"
import { DefaultChatTransport } from "ai"
import { createContext, use, useState, type ReactNode } from "react"
import type { ChatUIMessage } from "#server/chat/contract.ts"
import { askFetch, AskRefused } from "./ask.ts"
import { readDraft, writeDraft } from "./drafts.ts"

type Conversations = (threadId: string) => Chat<ChatUIMessage>

const ConversationsContext = createContext<Conversations>(() => {
  throw new Error("There are conversations only inside <ConversationsProvider>.")
})

/**
 * Keeps what is being asked and answered in each conversation, so that it goes on while another is on the screen. A
 * conversation holds here only the exchange that is running; what is said and done is read from the server.
 */
export function ConversationsProvider({ children }: { children: ReactNode }) {
  const [conversations] = useState(keepConversations)
  return <ConversationsContext value={conversations}>{children}</ConversationsContext>
}

export function useConversations(): Conversations {
  return use(ConversationsContext)
}

function keepConversations(): Conversations {
  const known = new Map<string, Chat<ChatUIMessage>>()
  return (threadId) => {
    const chat = known.get(threadId) ?? openConversation(threadId)
    known.set(threadId, chat)
    return chat
  }
}

function openConversation(threadId: string) {
  const chat = new Chat<ChatUIMessage>({
    id: threadId,
    generateId: () => crypto.randomUUID(),
    onError: (error) => {
      if (error instanceof AskRefused) takeBack(chat)
    },
    transport: new DefaultChatTransport({
      api: "/api/chat",
      fetch: askFetch,
      prepareSendMessagesRequest: ({ messages, trigger }) => ({
        body: { threadId, trigger, messages: messages.filter(({ role }) => role === "user").slice(-1) },
      }),
    }),
  })
  return chat
}

/** A question that the server did not take goes back to where it was written, unless something new stands there. */
function takeBack(chat: Chat<ChatUIMessage>) {
  const question = chat.messages.findLast(({ role }) => role === "user")
  const text = question?.parts.map((part) => (part.type === "text" ? part.text : "")).join("") ?? ""
  if (readDraft(chat.id) === "") writeDraft(chat.id, text)
  chat.messages = []
}
