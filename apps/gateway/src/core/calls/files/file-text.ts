import type { OfferedFile } from '#core/agents/made-file.ts'
import { parseUrl } from '#core/base/values/parse-url.ts'

/** A file as the text that shows it: Markdown, in which clients of any kind find it; its name alone where it has no URL. */
export function fileText({ url, type, name }: OfferedFile): string {
  const label = (name ?? '').replace(/[[\]\\\r\n]/g, ' ').trim()
  if (url === undefined) return label || type
  const address = url.replace(/[\s()<>\\]/g, (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, '0')}`)
  return type === 'image' ? `![${label}](${address})` : `[${label || nameIn(url) || 'file'}](${address})`
}

/** The last segment of the path. */
function nameIn(url: string): string {
  const segment = parseUrl(url)?.pathname.split('/').at(-1) ?? ''
  try {
    return decodeURIComponent(segment).replace(/[[\]\\\r\n]/g, ' ')
  } catch {
    return segment
  }
}
