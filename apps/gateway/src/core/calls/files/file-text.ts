import type { OfferedFile } from '#core/agents/made-file.ts'
import { parseUrl } from '#core/base/values/parse-url.ts'
import { shownName } from '#core/uploads/content/file-name.ts'

/** A file as the text that shows it: Markdown, in which clients of any kind find it; its name alone where it has no URL. */
export function fileText({ url, type, name }: OfferedFile): string {
  const label = labelOf(name ?? '')
  if (url === undefined) return label || type
  const address = url.replace(/[\s()<>\\]/g, (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, '0')}`)
  return type === 'image'
    ? `![${label}](${address})`
    : `[${label || labelOf(nameIn(url)) || 'file'}](${address})`
}

/** The last segment of the path. */
function nameIn(url: string): string {
  const segment = parseUrl(url)?.pathname.split('/').at(-1) ?? ''
  try {
    return shownName(decodeURIComponent(segment))
  } catch {
    return shownName(segment)
  }
}

/** Markdown would read an entity as the character that it names, such as one that reverses the direction of the text. */
const ENTITY = /&(?=#?[\da-z]{1,32};)/gi

function labelOf(name: string): string {
  return name
    .replace(/[[\]\\\r\n]/g, ' ')
    .replace(ENTITY, '&amp;')
    .trim()
}
