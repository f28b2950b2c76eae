import type { ReplyFile } from '@trunkline/sdk'

/**
 * Whether a file may be shown as a picture: it is one that this gateway serves. The page may load nothing from other origins, and
 * pictures from there would tell another server who reads the reply.
 */
export function isOwnFile(url: string, origin: string): boolean {
  const parsed = URL.parse(url)
  return parsed?.origin === origin && parsed.pathname.includes('/files/')
}

/** The files that the text of a reply does not show already, as far as they have an address of the web. */
export function filesBesideText(files: readonly ReplyFile[], text: string): readonly LinkedFile[] {
  return files.flatMap(({ url = '', name = '', type }) => {
    const { protocol, href, pathname } = URL.parse(url) ?? {}
    if (href === undefined || !/^https?:$/.test(protocol ?? '') || isIn(text, [url, href])) return []
    return [{ url, type, name: name || lastSegment(pathname) || url }]
  })
}

/** A file that can be opened. */
export interface LinkedFile extends Pick<ReplyFile, 'type'> {
  readonly url: string
  readonly name: string
}

/** Within Markdown, the gateway encodes the signs of an address that would end it. */
function isIn(text: string, urls: readonly string[]): boolean {
  return urls.some((url) => {
    const encoded = url.replace(/[()]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)
    return text.includes(url) || text.includes(encoded)
  })
}

function lastSegment(pathname = ''): string {
  const segment = pathname.split('/').at(-1) ?? ''
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
