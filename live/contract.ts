/** What a server and a browser agree on. Code of either may import it. */
export type * from "./protocol/contract.ts"
export { PROTOCOL_VERSION, REALTIME_PATH } from "./protocol/contract.ts"
export { describeDevice, readDevice } from "./protocol/device-contract.ts"
export { REFUSAL } from "./protocol/refusal-brand.ts"
export { clientTexts, fillIn, realtimeTexts } from "./protocol/refusal-text-contract.ts"
export { isStorable } from "./protocol/storable-contract.ts"
