import { performOperations } from "#server/http/perform-operations.ts"
import { LARGEST_PICTURE } from "#server/picture-contract.ts"
import { spaceFunctions } from "#server/spaces/operations.ts"
import { spacePageFunctions } from "#server/spaces/page-operations.ts"

/** Every form of the pages about a space itself: each of these pages takes them all. */
export const actOnSpace = performOperations([...spaceFunctions, ...spacePageFunctions], {
  file: { field: "picture", limit: LARGEST_PICTURE, tooLarge: "picture-too-large" },
})
