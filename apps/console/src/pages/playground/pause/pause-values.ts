import type { Pause, PauseField } from '@trunkline/sdk'

type PauseOption = Pause['options'][number]

/** What the controls of a form have: `true` and `false` for boxes, and texts for all others. */
export type PauseValues = Readonly<Record<string, string | boolean>>

/** What the fields have at first. */
export function firstValues(fields: readonly PauseField[]): PauseValues {
  return Object.fromEntries(fields.map((field) => [field.name, firstValue(field)]))
}

/** The values as an answer has them. What is empty is left out, so that the default of the field holds. */
export function sentFields(
  fields: readonly PauseField[],
  values: PauseValues,
): Record<string, unknown> | undefined {
  const sent = fields.flatMap((field) => {
    const value = sentValue(field, values[field.name] ?? '')
    return value === undefined ? [] : [[field.name, value] as const]
  })
  return sent.length === 0 ? undefined : Object.fromEntries(sent)
}

/** The answer as the conversation shows it: the option, and what was filled in. */
export function shownAnswer(
  option: PauseOption | undefined,
  fields: readonly PauseField[],
  sent: Readonly<Record<string, unknown>> = {},
): string {
  const lines = fields
    .filter(({ name }) => name in sent)
    .map(({ name, label }) => `${label ?? name}: ${shownValue(sent[name])}`)
  return [...(option === undefined ? [] : [option.title]), ...lines].join('\n')
}

function firstValue({ type, default: preset }: PauseField): string | boolean {
  if (type === 'checkbox') return preset === true
  if (preset === undefined) return ''
  return Array.isArray(preset) ? preset.join('\n') : String(preset)
}

function sentValue({ type }: PauseField, value: string | boolean): unknown {
  if (typeof value === 'boolean') return value
  if (value.trim() === '') return undefined
  if (type === 'file-list') return value.split('\n').flatMap((url) => url.trim() || [])
  if (type === 'file') return value.trim()
  // What is no number is refused by the gateway, in words that name the field.
  return type === 'number' && Number.isFinite(Number(value)) ? Number(value) : value
}

function shownValue(value: unknown): string {
  if (typeof value === 'boolean') return value ? '✓' : '✗'
  return Array.isArray(value) ? value.join(', ') : String(value)
}
