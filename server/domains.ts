import { notificationsDomain } from "./notifications/operations.ts"
import { spacesDomain } from "./spaces/operations.ts"
import { usersDomain } from "./users/operations.ts"

/** Every domain that declares its operations: a new one is a line here. */
export const operations = [...usersDomain, ...spacesDomain, ...notificationsDomain]
