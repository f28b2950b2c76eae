import { BoundedMap } from '#core/base/values/bounded-map.ts'

const URLS_MAX = 1_000
const urls = new BoundedMap<string, { origin: string; path: string }>(URLS_MAX)

/** Caches parsed URLs, which saves parsing the same handful of addresses on every call. */
export function splitUrl(url: string): { origin: string; path: string } {
  const known = urls.get(url)
  if (known !== undefined) return known
  const { origin, pathname, search } = new URL(url)
  const parts = { origin, path: pathname + search }
  urls.set(url, parts)
  return parts
}
