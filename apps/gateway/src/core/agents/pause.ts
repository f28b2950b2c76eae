import type { JsonObject } from '#core/base/values/json.ts'

/** What the user may choose at a pause. */
export interface PauseOption {
  readonly id: string
  readonly title: string
}

export const PAUSE_FIELD_TYPES = [
  'text',
  'paragraph',
  'number',
  'select',
  'checkbox',
  'file',
  'file-list',
] as const

/** A field of the form that a pause shows, as its adapter reads it; {@link offeredPause} makes it that of its type. */
export interface PauseField {
  readonly name: string
  readonly label?: string
  readonly type: (typeof PAUSE_FIELD_TYPES)[number]
  readonly required: boolean
  /** What a `select` offers. */
  readonly options?: readonly string[]
  readonly default?: unknown
}

/** A question at which a run of a platform waits for a person, as its adapter reads it. */
export interface Pause {
  readonly question: string
  readonly options: readonly PauseOption[]
  readonly fields: readonly PauseField[]
  /** In ISO 8601. */
  readonly expiresAt?: string
  /** Whether the platform takes any text as the answer. */
  readonly takesText: boolean
  /** Why it cannot be answered through the gateway; absent if it can. */
  readonly unanswerable?: string
  /** What the platform needs in order to go on. Never shown to a client. */
  readonly resume?: JsonObject
}

/** A pause as every client gets it. */
export interface OfferedPause {
  /** The id of the call that has paused. */
  readonly id: string
  readonly question: string
  readonly options: readonly PauseOption[]
  readonly fields: readonly PauseField[]
  /** In ISO 8601; absent where the pause does not expire. */
  readonly expires_at?: string
}

/** What continues a run that waits. */
export interface PauseAnswer {
  /** Of the options, if one was chosen. */
  readonly option?: string
  /** The values of the form by the names of its fields. */
  readonly fields: JsonObject
  /** What the user wrote; empty if the answer consists of something else. */
  readonly text: string
  /** Any JSON, in place of all others, for a pause without fields. */
  readonly value?: unknown
  /** The pause that is answered. */
  readonly pause: Pause
  /** Further pauses of the same run, which wait as well. */
  readonly waiting: readonly Pause[]
}

/** The pause as its clients get it. */
export function offeredPause(id: string, { question, options, fields, expiresAt }: Pause): OfferedPause {
  const end = expiresAt !== undefined && { expires_at: expiresAt }
  return { id, question, options, fields: fields.map(offeredField), ...end }
}

/** Platforms send options and default values of every type with fields of every type. */
function offeredField({ options = [], default: preset, ...field }: PauseField): PauseField {
  const value = DEFAULT_OF[field.type](preset)
  return {
    ...field,
    ...(field.type === 'select' && { options }),
    ...(value !== undefined && { default: value }),
  }
}

/** The default of a field of each type; undefined for what is none of that type. */
const DEFAULT_OF: Readonly<Record<PauseField['type'], (preset: unknown) => unknown>> = {
  text: wordOf,
  paragraph: wordOf,
  select: wordOf,
  file: wordOf,
  number: (preset) =>
    wordOf(preset)?.trim() && Number.isFinite(Number(preset)) ? Number(preset) : undefined,
  checkbox: (preset) => (typeof preset === 'boolean' ? preset : undefined),
  'file-list': (preset) =>
    Array.isArray(preset) && preset.every((url) => typeof url === 'string') ? preset : undefined,
}

function wordOf(preset: unknown): string | undefined {
  return ['string', 'number', 'boolean'].includes(typeof preset) ? String(preset) : undefined
}

/** What a client that reads text alone is asked: the question, and in lines of their own what can be chosen or filled in. */
export function textOfPause({
  question,
  options,
  fields,
}: Pick<Pause, 'question' | 'options' | 'fields'>): string {
  const choices =
    options.length > 0 ? options.map(({ title }) => title) : fields.map(({ label, name }) => label ?? name)
  return [question, choices.map((choice) => `- ${choice}`).join('\n')]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** An answer as the text that platforms take as the user's next message: the option, the form as JSON, or what the user wrote. */
export function textOfAnswer({ option, fields, text, value }: PauseAnswer): string {
  if (value !== undefined) return typeof value === 'string' ? value : JSON.stringify(value)
  if (option !== undefined) return option
  return Object.keys(fields).length > 0 ? JSON.stringify(fields) : text
}
