/** Where a URL leads, such as ` at db:5432`, without the user and the password that it may contain; else empty. */
export function atAddressOf(url: string | undefined): string {
  const host = URL.parse(url ?? '')?.host
  return host ? ` at ${host}` : ''
}
