import { NotKept } from './not-kept.ts'

/** What a platform says of a file. */
export interface NamedFile {
  readonly type?: 'image' | 'document' | 'audio' | 'video' | undefined
  readonly name?: string | undefined
  /** A content of another kind is not kept; otherwise the content decides. */
  readonly mediaType?: string | undefined
}

/**
 * Refuses a content that is of another kind than the platform has said. A picture that has gone is often a page that says so, with
 * the status of a success, and would be accepted as text.
 *
 * @param found - the type by the content
 * @param servedAs - the type that the answer names
 * @throws NotKept `wrong_type`
 */
export function requireExpectedType(
  found: string,
  { type, mediaType = '', name = '' }: NamedFile,
  servedAs: string,
): void {
  const kinds = [type, mediaType.toLowerCase().split('/', 1)[0]]
  if (kinds.includes('image') && !found.startsWith('image/')) refuse(`is no image but ${found}`)
  const isMedia = kinds.includes('audio') || kinds.includes('video')
  if (isMedia && !/^(?:audio|video)\//.test(found)) refuse(`is neither audio nor video but ${found}`)
  const mayBePage = /html/i.test(mediaType) || /\.html?$/i.test(name)
  if (servedAs === 'text/html' && found.startsWith('text/') && !mayBePage) refuse('is a web page')
}

function refuse(what: string): never {
  throw new NotKept('wrong_type', `it ${what}`)
}
