import type { Readable } from 'node:stream'
import { selectAllowedAgents } from '#core/agents/allowed-agents.ts'
import type { Agents } from '#core/agents/catalog.ts'
import { fail, type Problem, refuseField } from '#core/base/errors/errors.ts'
import type { CallFace } from '#core/ledger/call-kinds.ts'
import { isLongerThan } from '#core/requests/input/input-rules.ts'
import { type KeyCredential, type Principal, requireKey } from '#core/requests/principal.ts'
import type { RequestTrace } from '#core/requests/request-trace.ts'

/** An upload as a face passes it on, without its parts. */
export interface UploadRequest {
  readonly requestId: string
  readonly trace?: RequestTrace | undefined
  readonly face: CallFace
  /** The API key that the caller was authenticated with. */
  readonly credential: string
  /** The client's network address, by which the limit on refused keys counts. */
  readonly address: string
  /** The raw value of the `Agent` header; undefined if the upload names no agent. */
  readonly agent: string | undefined
}

/** One part of the form, in the order in which they arrive. */
export type UploadPart = FieldPart | FilePart

export interface FieldPart {
  readonly kind: 'field'
  readonly name: string
  readonly value: string
}

export interface FilePart {
  readonly kind: 'file'
  readonly name: string
  /** As the client sent it; undefined if it sent none. */
  readonly filename: string | undefined
  /** Must be read to its end before the next part is requested. */
  readonly body: Readable
  /** Converts an error of `body`, which means that the form is broken. */
  problemOf(error: unknown): Problem
}

export const CREATED_BY_CHARACTERS_MAX = 256
export const UPLOAD_USER_CHARACTERS_MAX = 256

/**
 * Requires an API key that may upload, and returns it.
 *
 * @throws Problem `api_key_required`, `permission_denied`
 */
export function requireUploadKey(caller: Principal): KeyCredential {
  const key = requireKey(caller)
  if (!key.permissions.includes('upload') && !key.permissions.includes('admin'))
    fail('permission_denied', 'the API key needs the permission upload.')
  return key
}

/**
 * The id of the agent that an upload names; empty if it names none.
 *
 * @throws Problem `unknown_agent`, `agent_denied`
 */
export function agentOfUpload(
  agents: Agents,
  { allowedAgents }: KeyCredential,
  raw: string | undefined,
): string {
  if (raw === undefined) return ''
  const id = raw.trim().toLowerCase()
  const allowedIds = selectAllowedAgents(agents, allowedAgents).map(({ agent }) => agent.id)
  if (allowedIds.includes(id)) return id
  if (agents.has(id)) fail('agent_denied')
  const expected =
    allowedIds.length === 0 ? 'no agent, since this key may use none' : `one of ${allowedIds.join(', ')}`
  return fail('unknown_agent', { field: ['agent'], detail: `expected ${expected}.` })
}

/** @throws Problem `invalid_request` */
export function requireCreatedBy(value: string | undefined): string {
  const expected = `expected a string of 1 to ${CREATED_BY_CHARACTERS_MAX} characters that is not blank.`
  if (value === undefined) return refuseField(['createdBy'], `is required; ${expected}`)
  const isPlain = !CONTROL_OR_SURROGATE.test(value) && value.trim() !== ''
  if (isPlain && !isLongerThan(value, CREATED_BY_CHARACTERS_MAX)) return value
  return refuseField(['createdBy'], expected)
}

/** @throws Problem `invalid_request` unless it may be the end user of a chat as well */
export function requireUploadUser(value: string): string {
  if (!CONTROL_OR_SURROGATE.test(value) && !isLongerThan(value, UPLOAD_USER_CHARACTERS_MAX)) return value
  return refuseField(
    ['endUser'],
    `expected at most ${UPLOAD_USER_CHARACTERS_MAX} characters, no control characters or lone surrogates.`,
  )
}

const CONTROL_OR_SURROGATE = /[\p{Cc}\p{Cs}]/u

const NAME_CHARACTERS_SHOWN = 40

/** @throws Problem `invalid_request` always, for a part that an upload does not have */
export function refusePart({ kind, name }: UploadPart): never {
  if (name === 'file') refuseField(['file'], 'expected a file, with a filename, and not a text.')
  if (name === 'created_by')
    refuseField(['createdBy'], 'expected a text, without a filename, and not a file.')
  if (name === 'end_user') refuseField(['endUser'], 'expected a text, without a filename, and not a file.')
  const shown = JSON.stringify(name.slice(0, NAME_CHARACTERS_SHOWN))
  refuseField([], `expected the parts file, created_by and end_user; got a ${kind} with the name ${shown}.`)
}
