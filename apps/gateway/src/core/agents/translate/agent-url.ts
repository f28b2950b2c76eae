/** An address at the platform; the configured base may carry the platform's own `suffix`, and a trailing slash. */
export function agentUrl(baseUrl: string, suffix: RegExp, path: string): string {
  return baseUrl.replace(/\/+$/, '').replace(suffix, '') + path
}
