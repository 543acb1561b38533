export { fitting, NOT_KEPT, parseBody } from "#server/http/parse-body.ts"
