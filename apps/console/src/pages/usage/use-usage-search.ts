import { useNavigate, useSearch } from '@tanstack/react-router'
import type { UsageSearch } from './usage-search.ts'

/** What the address says, and how to change it: a name with `undefined` is taken out of it. */
export function useUsageSearch() {
  const navigate = useNavigate()
  const search = useSearch({ from: '/shell/usage' })
  function change(changes: { readonly [Name in keyof UsageSearch]?: UsageSearch[Name] | undefined }) {
    const next = { ...search, ...changes }
    const given = Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined))
    void navigate({ to: '/usage', search: given })
  }
  return { search, change }
}
