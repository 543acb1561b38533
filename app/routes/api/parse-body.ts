export { fitting, parseBody } from "#server/http/parse-body.ts"
