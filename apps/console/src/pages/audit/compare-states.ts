/** A field of what was changed, before and after. */
export interface ComparedField {
  /** Nested fields by their path, such as `limits.chat`. */
  readonly name: string
  /** Undefined where the field was not there. */
  readonly before: string | undefined
  readonly after: string | undefined
  readonly hasChanged: boolean
}

type State = Record<string, unknown> | null

/** Two states field by field, in their own order: first what has changed. */
export function compareStates(before: State, after: State): readonly ComparedField[] {
  const [old, current] = [fieldsOf(before), fieldsOf(after)]
  const fields = [...new Set([...old.keys(), ...current.keys()])].map((name) => {
    const [one, other] = [old.get(name), current.get(name)]
    return { name, before: one, after: other, hasChanged: one !== other }
  })
  return [...fields.filter(({ hasChanged }) => hasChanged), ...fields.filter(({ hasChanged }) => !hasChanged)]
}

/**
 * What an event has changed. Of what was made or removed there is only one state, which is no change, and that the sessions of a
 * user have ended follows from what was done.
 */
export function changesOf({ before, after }: { readonly before: State; readonly after: State }) {
  if (before === null || after === null) return []
  return compareStates(before, after).filter(({ name, hasChanged }) => hasChanged && name !== 'token_epoch')
}

function fieldsOf(state: State): ReadonlyMap<string, string> {
  return new Map(state === null ? [] : flatten(state, ''))
}

function flatten(state: Record<string, unknown>, prefix: string): [name: string, text: string][] {
  return Object.entries(state).flatMap(([key, value]) => {
    const name = `${prefix}${key}`
    const isNested = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (isNested && Object.keys(value).length > 0)
      return flatten(value as Record<string, unknown>, `${name}.`)
    return [[name, textOf(value)]]
  })
}

/** Texts as they are, and everything else as JSON. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
