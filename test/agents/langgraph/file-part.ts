import type { MadeFile } from '@trunkline/sandbox/src/replies/made-files.ts'

/** A file as a part of a message: in the words of OpenAI, or as a standard block of LangChain. */
export function filePart({ type, name, mediaType, url }: MadeFile, isStandard: boolean) {
  const isImage = type === 'image'
  if (!isStandard) {
    return isImage
      ? { type: 'image_url', image_url: { url } }
      : { type: 'file', file: { file_data: url, filename: name } }
  }
  const bytes = /^data:.*?,(.*)$/s.exec(url)?.[1]
  const place = bytes === undefined ? { url } : { data: bytes }
  return { type: isImage ? 'image' : 'file', ...place, mimeType: mediaType, metadata: { filename: name } }
}
