/** Rows that follow the database, in React. */
export { openChannel } from "./browser/channel.ts"
export type { LiveClient } from "./browser/client.ts"
export type { Refused, Shown } from "./browser/mutations.ts"
export { createPageReader } from "./browser/page-reader.ts"
export { createPages } from "./browser/pages.ts"
export { recallPages } from "./browser/recall-pages.ts"
export {
  LiveProvider,
  useClient,
  useFreshness,
  useIsLive,
  useLive,
  useLivePages,
  useMutate,
  useReconnect,
} from "./browser/use-live.tsx"
