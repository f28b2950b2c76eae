/** What the address of a list says of its time. Values of another kind are as if they were not there. */
export interface TimeSearch {
  /** A range of one's own, in ISO 8601; it takes the place of a preset. */
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** The texts with these names. The router reads a number where an id looks like one. */
export function textsIn<Name extends string>(
  search: Record<string, unknown>,
  names: readonly Name[],
): { readonly [Key in Name]?: string | undefined } {
  const texts = names.flatMap((name) => {
    const text = ['string', 'number'].includes(typeof search[name]) ? String(search[name]).trim() : ''
    return text === '' ? [] : [[name, text]]
  })
  return Object.fromEntries(texts) as { [Key in Name]?: string }
}

/** What is typed into the search of a list. It may end with a space while it is being typed. */
export function typedIn({ search }: Record<string, unknown>): { readonly search?: string | undefined } {
  return typeof search === 'string' || typeof search === 'number' ? { search: String(search) } : {}
}

/** Those with these names that are set. */
export function flagsIn<Name extends string>(
  search: Record<string, unknown>,
  names: readonly Name[],
): { readonly [Key in Name]?: true | undefined } {
  const set = names.filter((name) => search[name] === true || search[name] === 'true')
  return Object.fromEntries(set.map((name) => [name, true])) as { [Key in Name]?: true }
}

export function timesIn(search: Record<string, unknown>): TimeSearch {
  const times = (['from', 'to'] as const).flatMap((name) => {
    const time = new Date(String(search[name] ?? ''))
    return Number.isNaN(time.getTime()) ? [] : [[name, time.toISOString()]]
  })
  return Object.fromEntries(times) as TimeSearch
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
