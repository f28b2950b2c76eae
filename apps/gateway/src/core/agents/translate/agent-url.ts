/** Joins base URL and path. The base may already end with the platform's own `suffix` or with slashes. */
export function agentUrl(baseUrl: string, suffix: RegExp, path: string): string {
  return baseUrl.replace(/\/+$/, '').replace(suffix, '') + path
}
