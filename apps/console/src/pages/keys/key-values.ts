import type { CreateApiKey, UpdateApiKey } from '@trunkline/sdk'
import type { KeyFieldsFragment } from '../../generated/graphql.ts'

/** What can be typed for a key, new or not. The names are those of the request, at which the contract's checks look. */
export interface KeyValues {
  readonly name: string
  readonly description: string
  readonly agents: 'all' | 'some'
  /** Each as `agent` or `agent/app`. */
  readonly allowed_agents: readonly string[]
  /** One on each line. */
  readonly allowed_addresses: string
  readonly chat_per_minute: string
  readonly upload_per_minute: string
  /** A number of days from now, `date`, or `kept` for a key that keeps its expiry. */
  readonly lifetime: string
  /** The last day of the key, as `2027-01-31`. */
  readonly expires_at: string
}

export interface NewKeyValues extends KeyValues {
  readonly permissions: readonly ('chat' | 'upload' | 'admin')[]
  readonly owner_id: string
}

export const LIFETIMES_DAYS = ['30', '90', '365'] as const

/** @param fallbackDate what the field for the date begins with */
export function newKeyValues(ownerId: string, fallbackDate: string): NewKeyValues {
  return {
    ...{
      name: '',
      description: '',
      agents: 'all',
      allowed_agents: [],
      allowed_addresses: '',
      chat_per_minute: '',
      upload_per_minute: '',
    },
    permissions: ['chat'],
    lifetime: '90',
    expires_at: fallbackDate,
    owner_id: ownerId,
  }
}

export function valuesOf(key: KeyFieldsFragment): KeyValues {
  const { name, description, allowedAgents, allowedAddresses, limits, expiresAt } = key
  return {
    name,
    description,
    agents: allowedAgents === null ? 'all' : 'some',
    allowed_agents: allowedAgents ?? [],
    allowed_addresses: (allowedAddresses ?? []).join('\n'),
    chat_per_minute: limits.chatPerMinute?.toString() ?? '',
    upload_per_minute: limits.uploadPerMinute?.toString() ?? '',
    lifetime: 'kept',
    expires_at: dayOf(new Date(expiresAt)),
  }
}

export function updateOf(values: KeyValues, now: Date): UpdateApiKey {
  // Lists that are pasted have commas as well.
  const addresses = values.allowed_addresses.split(/[\s,]+/).filter(Boolean)
  return {
    name: values.name.trim(),
    description: values.description.trim(),
    allowed_agents: values.agents === 'all' ? null : [...values.allowed_agents],
    allowed_addresses: addresses.length === 0 ? null : addresses,
    limits: {
      chat_per_minute: limitOf(values.chat_per_minute),
      upload_per_minute: limitOf(values.upload_per_minute),
    },
    ...(values.lifetime !== 'kept' && { expires_at: expiryOf(values, now) }),
  }
}

export function creationOf(values: NewKeyValues, now: Date): CreateApiKey {
  const { name, description, allowed_agents, allowed_addresses, limits } = updateOf(values, now)
  return {
    name: name ?? '',
    description: description ?? '',
    permissions: [...values.permissions],
    expires_at: expiryOf(values, now),
    owner_id: values.owner_id,
    ...(allowed_agents && { allowed_agents }),
    ...(allowed_addresses && { allowed_addresses }),
    ...(limits && { limits }),
  }
}

const DAY_MS = 86_400_000

/** A number of days ends at the same time of the day, a date with the day, in the reader's time zone. */
function expiryOf({ lifetime, expires_at }: KeyValues, now: Date): string {
  if (lifetime !== 'date') return new Date(now.getTime() + Number(lifetime) * DAY_MS).toISOString()
  const end = new Date(`${expires_at}T23:59:59`)
  // An empty field is refused by the gateway, in its words.
  return Number.isNaN(end.getTime()) ? expires_at : end.toISOString()
}

function limitOf(text: string): number | null {
  return text.trim() === '' ? null : Number(text)
}

/** A day in the reader's time zone, as fields for dates have it. */
export function dayOf(date: Date): string {
  const digits = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${digits(date.getMonth() + 1)}-${digits(date.getDate())}`
}
