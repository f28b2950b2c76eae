import { withoutTrailing } from '#core/base/values/without-trailing.ts'

/** Joins base URL and path. The base may already end with the platform's own `suffix` or with slashes. */
export function agentUrl(baseUrl: string, suffix: RegExp, path: string): string {
  return withoutTrailing(baseUrl, '/').replace(suffix, '') + path
}
