import type { SetFilter } from './filter-panel.tsx'

/**
 * The filters of an address that are set, in words.
 *
 * @param words - the label and the value of each by its name in the address; no value for one that is not set
 */
export function setFilters<Search extends object>(
  words: { readonly [Name in keyof Search]?: readonly [label: string, value: string | undefined] },
  onChange: (changed: Search) => void,
  { isUsual }: { readonly isUsual: boolean },
): readonly SetFilter[] {
  const entries = Object.entries(words) as [keyof Search, readonly [string, string | undefined]][]
  return entries.flatMap(([name, [label, value]]) =>
    value === undefined
      ? []
      : [{ label, value, isUsual, clear: () => onChange({ [name]: undefined } as unknown as Search) }],
  )
}
