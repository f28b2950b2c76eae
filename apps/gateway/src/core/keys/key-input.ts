import type { AgentCatalog } from '#core/agents/catalog.ts'
import { refuseField } from '#core/errors.ts'
import { caseKey } from '#core/input/case-key.ts'
import { isLongerThan, requireItems, requireShort, requireText } from '#core/input/input-rules.ts'
import { parseTimestamp } from '#core/input/timestamp.ts'
import { type LimitRule, type LimitRules, perMinute } from '#core/limits/limits.ts'
import { PERMISSIONS, type Permission } from '#core/principal.ts'

/** The fields of a key that can be changed later. Null resets a field to its default. */
export interface KeyChange {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly allowedAgents?: readonly string[] | null | undefined
  readonly limits?: KeyLimitsChange | null | undefined
}

export interface KeyLimitsChange {
  readonly chatPerMinute?: number | null | undefined
  readonly uploadPerMinute?: number | null | undefined
}

export interface NewKey extends KeyChange {
  readonly name: string
  readonly description: string
  /** ISO 8601 with a zone. */
  readonly expiresAt: string
  /** {@link Permission}s, typed as strings because not every face has a schema that checks them. */
  readonly permissions: readonly string[]
  /** The caller by default. */
  readonly ownerId?: string | undefined
}

/** What the installation's configuration allows. */
export interface KeyRules {
  /** The agents that a key may be restricted to. */
  readonly catalog: Pick<AgentCatalog, 'knownIds'>
  readonly limits: Pick<LimitRules, 'chat' | 'upload'>
  readonly maxLifetimeDays: number
  /** Maximum number of active keys that a user may own. */
  readonly activePerUserMax: number
}

export const NAME_LENGTH_MAX = 100
export const DESCRIPTION_LENGTH_MAX = 500
export const ALLOWED_AGENTS_MAX = 50
const APP_LENGTH_MAX = 256

const CONTROL_OR_SURROGATE = /[\p{Cc}\p{Cs}]/u
const DAY_MS = 86_400_000

/**
 * Validates a change and returns the columns that it sets.
 *
 * @throws Problem `invalid_request`
 */
export function changedColumns(change: KeyChange, rules: KeyRules) {
  const { name, description, allowedAgents, limits } = change
  return {
    ...(name !== undefined && nameColumns(name)),
    ...(description !== undefined && { description: checkedDescription(description) }),
    ...(allowedAgents !== undefined && {
      allowedAgents: checkedAgents(allowedAgents, rules.catalog.knownIds()),
    }),
    ...(limits !== undefined && limitColumns(limits, rules)),
  }
}

/**
 * Validates the fields of a new key and returns its columns.
 *
 * @throws Problem `invalid_request`
 */
export function newColumns(input: NewKey, rules: KeyRules, now: Date) {
  return {
    ...changedColumns(input, rules),
    ...nameColumns(input.name),
    description: checkedDescription(input.description),
    permissions: checkedPermissions(input.permissions),
    expiresAt: checkedExpiry(input.expiresAt, rules.maxLifetimeDays, now),
  }
}

/** Rejects unknown permissions here, because the column would store any text and not every face has a schema. */
function checkedPermissions(permissions: readonly string[]): Permission[] {
  const expected = `one of ${PERMISSIONS.join(', ')}`
  if (permissions.length === 0 || new Set(permissions).size < permissions.length)
    refuseField(['permissions'], `expected an array of ${expected} of at least 1 items, no item twice.`)
  const known = permissions.map(
    (word, index) =>
      PERMISSIONS.find((permission) => permission === word) ??
      refuseField(['permissions', index], `expected ${expected}.`),
  )
  return known
}

function nameColumns(name: string) {
  requireText(['name'], name, NAME_LENGTH_MAX)
  if (name.trim() === '') refuseField(['name'], 'must not be blank.')
  return { name: checkedText('name', name, name), nameKey: caseKey(name) }
}

function checkedDescription(description: string): string {
  requireShort(['description'], description, DESCRIPTION_LENGTH_MAX)
  return checkedText('description', description, description.replace(/[\n\r\t]/g, ''))
}

function checkedText(field: string, text: string, line: string): string {
  if (CONTROL_OR_SURROGATE.test(line)) refuseField([field], 'must not contain control characters.')
  return text
}

function checkedExpiry(text: string, daysMax: number, now: Date): Date {
  const expiresAt = parseTimestamp(text)
  if (expiresAt === undefined) {
    refuseField(['expiresAt'], 'expected an ISO 8601 time with a zone, such as 2027-01-31T00:00:00Z.')
  }
  if (expiresAt <= now) refuseField(['expiresAt'], 'expected a time in the future.')
  if (expiresAt.getTime() > now.getTime() + daysMax * DAY_MS) {
    refuseField(['expiresAt'], `expected a time at most ${daysMax} days ahead.`)
  }
  return expiresAt
}

function checkedAgents(agents: readonly string[] | null, agentIds: ReadonlySet<string>): string[] {
  if (agents === null) return []
  // In the database an empty list means all agents, so an empty list in a request would grant more than it says.
  requireItems(['allowedAgents'], agents, ALLOWED_AGENTS_MAX)
  if (agents.length === 0) {
    refuseField(['allowedAgents'], `expected null or 1 to ${ALLOWED_AGENTS_MAX} entries.`)
  }
  agents.forEach((entry, index) => {
    if (!isAgentEntry(entry, agentIds)) {
      const known = [...agentIds].join(', ')
      refuseField(['allowedAgents', index], `expected agent or agent/app, where agent is one of ${known}.`)
    }
  })
  return [...new Set(agents)]
}

function isAgentEntry(entry: string, agentIds: ReadonlySet<string>): boolean {
  const slash = entry.indexOf('/')
  if (slash < 0) return agentIds.has(entry)
  const app = entry.slice(slash + 1)
  return (
    agentIds.has(entry.slice(0, slash)) &&
    app.length > 0 &&
    !isLongerThan(app, APP_LENGTH_MAX) &&
    !CONTROL_OR_SURROGATE.test(app)
  )
}

function limitColumns(limits: KeyLimitsChange | null, rules: KeyRules) {
  const { chatPerMinute, uploadPerMinute } = limits ?? { chatPerMinute: null, uploadPerMinute: null }
  return {
    ...(chatPerMinute !== undefined && {
      chatPerMinute: checkedLimit('chatPerMinute', chatPerMinute, rules.limits.chat),
    }),
    ...(uploadPerMinute !== undefined && {
      uploadPerMinute: checkedLimit('uploadPerMinute', uploadPerMinute, rules.limits.upload),
    }),
  }
}

function checkedLimit(field: string, limit: number | null, rule: LimitRule): number | null {
  // A higher limit would have no effect. If the window of the rule is longer than a minute, its full points are accepted too.
  const most = Math.max(rule.points, perMinute(rule))
  if (limit !== null && (!Number.isInteger(limit) || limit < 1 || limit > most)) {
    refuseField(['limits', field], `expected null or an integer of 1 to ${most}.`)
  }
  return limit
}
