export const MADE_FILE_TYPES = ['image', 'document', 'audio', 'video'] as const

/** A file that an agent has made, as its adapter reads it. */
export interface MadeFile {
  readonly type: (typeof MADE_FILE_TYPES)[number]
  /** As the platform has it: absolute, relative to its address, or a `data:` URL with the file itself. */
  readonly url?: string
  readonly name?: string
  readonly mediaType?: string
}

/** A file as every client gets it. */
export interface OfferedFile {
  /** Absent where the file cannot be reached from outside. */
  readonly url?: string
  readonly type: MadeFile['type']
  readonly name?: string
  readonly media_type?: string
}

/** The kind of a file by what a platform calls it, its media type, and the end of its name, the first that says something. */
export function madeFileType(...words: readonly unknown[]): MadeFile['type'] {
  for (const word of words) {
    if (typeof word !== 'string') continue
    const found =
      MADE_FILE_TYPES.find((type) => word.toLowerCase().startsWith(type)) ??
      BY_EXTENSION.get(extensionOf(word))
    if (found !== undefined) return found
  }
  return 'document'
}

const EXTENSIONS: Readonly<Partial<Record<MadeFile['type'], string>>> = {
  image: 'jpg jpeg png webp gif svg avif bmp',
  audio: 'mp3 m4a wav amr mpga ogg opus flac',
  video: 'mp4 mov mpeg webm',
}
const BY_EXTENSION = new Map(
  Object.entries(EXTENSIONS).flatMap(([type, extensions]) =>
    extensions.split(' ').map((extension) => [extension, type as MadeFile['type']] as const),
  ),
)

function extensionOf(name: string): string {
  const path = name.split(/[?#]/, 1)[0] ?? ''
  return path.slice(path.lastIndexOf('.') + 1).toLowerCase()
}

/** The end of a text that comes in pieces, which is all that {@link paragraphBreak} reads of it. */
export function endOfText(before: string, piece: string): string {
  return (before + piece.slice(-2)).slice(-2)
}

/** The line breaks that are missing between two texts so that an empty line is between them. */
export function paragraphBreak(before: string, after: string): string {
  if (before === '') return ''
  const breaks =
    (/\n{0,2}$/.exec(before.slice(-2))?.[0] ?? '').length +
    (/^\n{0,2}/.exec(after.slice(0, 2))?.[0] ?? '').length
  return '\n'.repeat(Math.max(0, 2 - breaks))
}
