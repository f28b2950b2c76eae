import { asList, asRecord, asText, type JsonRecord } from '@trunkline/sandbox/src/serving/narrow.ts'
import { textIn } from './content.ts'

/** A request that begins a run. */
export interface RunRequest {
  /** The thread in its path; empty if it names none. */
  readonly thread: string
  /** The text of the last message of the user; empty for an answer. */
  readonly query: string
  /** What an interrupt is answered with. */
  readonly answer?: { readonly value: unknown }
}

const RUNS = /^(?:\/threads\/([^/]+))?\/runs(?:\/(?:stream|wait))?$/

/** Returns undefined if the request begins no run. */
export function readRunRequest(method: string, path: string, body: JsonRecord): RunRequest | undefined {
  const match = method === 'POST' ? RUNS.exec(path) : null
  if (match === null) return undefined
  const { resume } = asRecord(body.command)
  return {
    thread: match[1] ?? '',
    query: queryIn(asRecord(body.input).messages),
    ...(resume !== undefined && { answer: { value: resume } }),
  }
}

function queryIn(messages: unknown): string {
  const users = asList(messages)
    .map(asRecord)
    .filter(({ role, type }) => ['user', 'human'].includes(asText(role) || asText(type)))
  return textIn(users.at(-1)?.content)
}

const CANCEL = /^\/threads\/[^/]+\/runs\/([^/]+)\/cancel$/

/** Returns the id of the run that a request cancels. */
export function cancelledBy(method: string, path: string): string | undefined {
  return method === 'POST' ? CANCEL.exec(path)?.[1] : undefined
}

const LOCATION = /^(?:\/threads\/[^/]+)?\/runs\/([^/]+)$/

/** Returns the id of the run that a reply names in its head. */
export function runIn(location: string | string[] | undefined): string | undefined {
  return LOCATION.exec(asText(location))?.[1]
}
