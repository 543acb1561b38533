import { HealthRefused, HealthReport, RealtimeTokenIssued } from "#server/http/contract.ts"
import {
  jsonAnswer,
  type Operation,
  type PathItem,
  PUBLIC,
  RATE_LIMIT_HEADERS,
  refusal,
  SIGNED_IN,
  TOO_MANY_HEADERS,
  withoutContent,
} from "./parts.ts"

const health: Operation = {
  operationId: "getHealth",
  tags: ["Service"],
  summary: "Is the service up?",
  description: "30 requests per minute for each `x-forwarded-for` value.",
  security: PUBLIC,
  responses: {
    "200": jsonAnswer("It is.", HealthReport, RATE_LIMIT_HEADERS),
    "429": jsonAnswer("Too many requests.", HealthRefused, TOO_MANY_HEADERS),
  },
}

export const servicePaths: Record<string, PathItem> = {
  "/api/health": {
    get: health,
    head: { ...health, operationId: "probeHealth", responses: withoutContent(health.responses) },
  },
  "/api/realtime/token": {
    get: {
      operationId: "issueRealtimeToken",
      tags: ["Realtime"],
      summary: "A token that opens the socket at /realtime",
      description: "`/api/realtime.json` describes the socket.",
      security: SIGNED_IN,
      responses: {
        "200": jsonAnswer("A token for the caller.", RealtimeTokenIssued),
        "401": refusal("Nobody is signed in."),
        "403": refusal("The credential opens no socket. Use a session."),
      },
    },
  },
  "/api/openapi.json": {
    get: {
      operationId: "describeApi",
      tags: ["Service"],
      summary: "This document",
      security: PUBLIC,
      responses: {
        "200": {
          description: "OpenAPI 3.1.",
          content: {
            "application/json": { schema: { type: "object", required: ["openapi", "info", "paths"] } },
          },
        },
        "400": refusal("The query has a parameter: there is none."),
      },
    },
  },
  "/api/realtime.json": {
    get: {
      operationId: "describeRealtime",
      tags: ["Service"],
      summary: "The socket as an AsyncAPI document",
      security: PUBLIC,
      responses: {
        "200": {
          description: "AsyncAPI 3.",
          content: {
            "application/json": { schema: { type: "object", required: ["asyncapi", "info", "channels"] } },
          },
        },
        "400": refusal("The query has a parameter: there is none."),
      },
    },
  },
  "/sitemap.xml": {
    get: textFile("getSitemap", "The pages that a search engine may list", "application/xml"),
  },
  "/robots.txt": { get: textFile("getRobots", "What a robot may read", "text/plain") },
}

function textFile(operationId: string, summary: string, type: string): Operation {
  return {
    operationId,
    tags: ["Service"],
    summary,
    security: PUBLIC,
    responses: { "200": { description: summary, content: { [type]: { schema: { type: "string" } } } } },
  }
}
