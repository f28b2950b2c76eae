import type { AgentCall, HelperCall, UpstreamRequest } from '#core/agents/adapter.ts'
import { agentKey, jsonPost } from '#core/agents/translate/plain-requests.ts'
import { isObject, type JsonObject, objectOf, parseJson } from '#core/base/values/json.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'

/** Every call is a POST with the app's key in both the header and the body. */
export function post(
  { agent, app, endUser }: Pick<AgentCall, 'agent' | 'app' | 'endUser'>,
  action: string,
  fields: object,
): UpstreamRequest {
  const key = agentKey(agent, app) ?? ''
  return jsonPost(
    `${agent.apiUrl}/${action}`,
    { apikey: key },
    omitUndefined({ AppKey: key, UserID: endUser, ...fields }),
  )
}

/** Makes a call accept bodies that end with a stray `null`. */
export function lenient<Result>({ request, read }: HelperCall<Result>): HelperCall<Result> {
  return { request, read: (status, body, header) => read(status, withoutNull(body), header) }
}

/** HiAgent may append a literal `null` to a JSON body, which therefore does not parse and arrives as text. */
export function withoutNull(body: unknown): unknown {
  return typeof body === 'string' ? (parseJson(body.replace(/null\s*$/, '')) ?? body) : body
}

export function errorOf(body: JsonObject): JsonObject | undefined {
  const { Error: error } = objectOf(body.ResponseMetadata)
  return isObject(error) ? error : undefined
}

export function isError(body: JsonObject): boolean {
  return errorOf(body) !== undefined
}
