/** What the address of a list says of its time. Values of another kind are as if they were not there. */
export interface TimeSearch {
  /** A range of one's own, in ISO 8601; it takes the place of a preset. */
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** A text that is not blank. The router reads a number where an id looks like one. */
export function asText(given: unknown): string | undefined {
  return ['string', 'number'].includes(typeof given) ? String(given).trim() || undefined : undefined
}

/** The texts with these names. */
export function textsIn<Name extends string>(
  search: Record<string, unknown>,
  names: readonly Name[],
): { readonly [Key in Name]?: string | undefined } {
  const texts = names.map((name) => [name, asText(search[name])]).filter(([, text]) => text !== undefined)
  return Object.fromEntries(texts) as { [Key in Name]?: string }
}

/** Those with these names that are set. */
export function flagsIn<Name extends string>(
  search: Record<string, unknown>,
  names: readonly Name[],
): { readonly [Key in Name]?: true | undefined } {
  const set = names.filter((name) => search[name] === true || search[name] === 'true')
  return Object.fromEntries(set.map((name) => [name, true])) as { [Key in Name]?: true }
}

/** A time in ISO 8601. */
export function asTime(given: unknown): string | undefined {
  const time = new Date(String(given ?? ''))
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}

export function timesIn({ from, to }: Record<string, unknown>): TimeSearch {
  const times = Object.entries({ from: asTime(from), to: asTime(to) })
  return Object.fromEntries(times.filter(([, time]) => time !== undefined))
}

/** The value with this name if it is one of those that are known. */
export function oneOf<Name extends string, Value extends string>(
  search: Record<string, unknown>,
  name: Name,
  known: readonly Value[],
): { readonly [Key in Name]?: Value | undefined } {
  const value = known.find((entry) => entry === search[name])
  return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: Value }
}

/** A time as fields for dates and times have it, in the reader's time zone. */
export function localTime(iso: string | undefined): string {
  if (iso === undefined) return ''
  const date = new Date(iso)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** The time that was typed, which is undefined until all of it is. */
export function typedTime(local: string): string | undefined {
  const date = new Date(local)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
