import { validate } from 'uuid'
import type { AgentCatalog } from '#core/agents/catalog.ts'
import { refuseField } from '#core/base/errors/errors.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import type { LimitRules } from '#core/limits/limits.ts'
import { type MaxPerKey, mostPerKey, type OwnLimit, perMinute } from '#core/limits/own-limits.ts'
import { checkedAddresses } from '#core/requests/allowed-addresses.ts'
import { allOf, eachOf, ifGiven } from '#core/requests/input/all-of.ts'
import { caseKey } from '#core/requests/input/case-key.ts'
import {
  isLongerThan,
  requireItems,
  requireOneOf,
  requireShort,
  requireText,
} from '#core/requests/input/input-rules.ts'
import { parseDayEnd, parseTimestamp } from '#core/requests/input/timestamp.ts'
import { isAdmin, PERMISSIONS, type Permission, type Principal } from '#core/requests/principal.ts'

/** The fields of a key that can be changed later. Null resets a field to its default. */
export interface KeyChange {
  readonly name?: string | undefined
  readonly description?: string | undefined
  /** ISO 8601 with a zone, or a date alone, which is the end of that day in UTC. */
  readonly expiresAt?: string | undefined
  readonly allowedAgents?: readonly string[] | null | undefined
  /** Addresses and ranges in CIDR notation. */
  readonly allowedAddresses?: readonly string[] | null | undefined
  readonly limits?: KeyLimitsChange | null | undefined
}

export interface KeyLimitsChange {
  readonly chatPerMinute?: number | null | undefined
  readonly uploadPerMinute?: number | null | undefined
}

/** What can be changed of a key that is there already. */
export interface KeyUpdate extends KeyChange {
  /** False pauses the key, and true lifts the pause. */
  readonly isActive?: boolean | undefined
}

export interface NewKey extends KeyChange {
  readonly name: string
  readonly description: string
  readonly expiresAt: string
  /** {@link Permission}s, typed as strings because not every face has a schema that checks them. */
  readonly permissions: readonly string[]
  /** The caller by default. */
  readonly ownerId?: string | undefined
}

/** The fields that are given of a new key, of which others are missing or have the wrong type. */
export type GivenKey = { readonly [Name in keyof NewKey]?: NewKey[Name] | undefined }

/** What the installation's configuration allows. */
export interface KeyRules {
  /** The agents that a key may be restricted to. */
  readonly catalog: Pick<AgentCatalog, 'knownIds'>
  readonly limits: Pick<LimitRules, OwnLimit> & MaxPerKey
  readonly maxLifetimeDays: number
  /** Maximum number of active keys that a user may own. */
  readonly activePerUserMax: number
  /** Of one owner, in a day of UTC. */
  readonly createdPerDayMax: number
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
 * @throws Problem `invalid_request` with all mistakes
 */
export function changedColumns(caller: Principal, change: KeyChange, rules: KeyRules, now: Date) {
  const { limits, name, ...columns } = allOf(rulesOfChange(caller, change, rules, now))
  return { ...omitUndefined(columns), ...name, ...limits }
}

export type ChangedColumns = ReturnType<typeof changedColumns>

/**
 * Validates the fields of a new key and returns its columns.
 *
 * @throws Problem `invalid_request` with all mistakes
 */
export function newColumns(caller: Principal, input: NewKey, rules: KeyRules, now: Date) {
  const { limits, allowedAgents, allowedAddresses, name, ...columns } = allOf({
    ...rulesOfChange(caller, input, rules, now),
    name: () => nameColumns(input.name),
    description: () => checkedDescription(input.description),
    expiresAt: () => checkedExpiry(input.expiresAt, rules.maxLifetimeDays, now),
    permissions: () => checkedPermissions(input.permissions),
    ownerForm: () => ifGiven(input.ownerId, requireOwnerForm),
  })
  const { ownerForm: _checked, ...own } = columns
  return { ...own, ...name, ...omitUndefined({ allowedAgents, allowedAddresses }), ...limits }
}

/**
 * Validates the fields that are given of a new key, of which others are missing or have the wrong type.
 *
 * @throws Problem `invalid_request` with all mistakes
 */
export function checkGivenFields(caller: Principal, input: GivenKey, rules: KeyRules, now: Date): void {
  const { permissions, ownerId } = input
  allOf({
    ...rulesOfChange(caller, input, rules, now),
    permissions: () => ifGiven(permissions, checkedPermissions),
    ownerForm: () => ifGiven(ownerId, requireOwnerForm),
  })
}

function rulesOfChange(
  caller: Principal,
  { name, description, expiresAt, allowedAgents, allowedAddresses, limits }: KeyChange,
  rules: KeyRules,
  now: Date,
) {
  return {
    name: () => ifGiven(name, nameColumns),
    description: () => ifGiven(description, checkedDescription),
    expiresAt: () => ifGiven(expiresAt, (text) => checkedExpiry(text, rules.maxLifetimeDays, now)),
    allowedAgents: () => ifGiven(allowedAgents, (agents) => checkedAgents(agents, rules.catalog.knownIds())),
    allowedAddresses: () => ifGiven(allowedAddresses, checkedAddresses),
    limits: () => ifGiven(limits, (change) => limitColumns(caller, change, rules)),
  }
}

function requireOwnerForm(ownerId: string): void {
  if (!validate(ownerId)) refuseField(['ownerId'], 'expected a string (uuid).')
}

/** Rejects unknown permissions here, because the column would store any text and not every face has a schema. */
function checkedPermissions(permissions: readonly string[]): Permission[] {
  const expected = `one of ${PERMISSIONS.join(', ')}`
  if (permissions.length === 0 || new Set(permissions).size < permissions.length)
    refuseField(['permissions'], `expected an array of at least 1 item, each ${expected}, no item twice.`)
  eachOf(permissions, (word, index) => requireOneOf(['permissions', index], PERMISSIONS, word))
  return PERMISSIONS.filter((permission) => permissions.includes(permission))
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
  const expiresAt = parseTimestamp(text) ?? parseDayEnd(text)
  if (expiresAt === undefined) {
    refuseField(
      ['expiresAt'],
      'expected an ISO 8601 time with a zone, such as 2027-01-31T00:00:00Z, or a date alone.',
    )
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
  eachOf(agents, (entry, index) => {
    // What is not a text was reported with the types.
    if (entry === undefined || isAgentEntry(entry, agentIds)) return
    const known = [...agentIds].join(', ')
    refuseField(['allowedAgents', index], `expected agent or agent/app, where agent is one of ${known}.`)
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

/** The limits of a change that only an administrator could set, or that are there already. */
export function aboveGateway({ limits }: KeyChange, rules: KeyRules): boolean {
  const { chatPerMinute, uploadPerMinute } = limits ?? {}
  return (
    (chatPerMinute ?? 0) > perMinute(rules.limits.chat) ||
    (uploadPerMinute ?? 0) > perMinute(rules.limits.upload)
  )
}

/** A change without the limits that the key has already, so that whoever may not set them may send them back. */
export function withoutSameLimits(
  change: KeyChange,
  { chatPerMinute, uploadPerMinute }: { chatPerMinute: number | null; uploadPerMinute: number | null },
): KeyChange {
  const { limits } = change
  if (limits === undefined || limits === null) return change
  const kept = {
    ...(limits.chatPerMinute !== chatPerMinute && { chatPerMinute: limits.chatPerMinute }),
    ...(limits.uploadPerMinute !== uploadPerMinute && { uploadPerMinute: limits.uploadPerMinute }),
  }
  return { ...change, limits: kept }
}

function limitColumns(caller: Principal, limits: KeyLimitsChange | null, { limits: rules }: KeyRules) {
  const { chatPerMinute, uploadPerMinute } = limits ?? { chatPerMinute: null, uploadPerMinute: null }
  const checked = (field: string, limit: number | null | undefined, name: OwnLimit) =>
    ifGiven(limit, (given) =>
      checkedLimit(caller, field, given, [perMinute(rules[name]), mostPerKey(rules, name)]),
    )
  const columns = allOf({
    chatPerMinute: () => checked('chatPerMinute', chatPerMinute, 'chat'),
    uploadPerMinute: () => checked('uploadPerMinute', uploadPerMinute, 'upload'),
  })
  return omitUndefined(columns)
}

/** @param bounds - what everybody may set, and what an administrator may */
function checkedLimit(
  caller: Principal,
  field: string,
  limit: number | null,
  [ofAll, ofAdmins]: readonly [number, number],
): number | null {
  const most = isAdmin(caller) ? ofAdmins : ofAll
  if (limit !== null && (!Number.isInteger(limit) || limit < 1 || limit > most)) {
    const more = most < ofAdmins ? `; an administrator may set up to ${ofAdmins}` : ''
    refuseField(['limits', field], `expected null or an integer of 1 to ${most}${more}.`)
  }
  return limit
}
