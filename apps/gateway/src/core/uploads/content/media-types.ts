/** A type under the one name that the gateway uses for it. */
export interface FileType {
  readonly mediaType: string
  /** The usual extension, without the dot. */
  readonly extension: string
}

/**
 * Other names of types, by the name that the gateway uses: those that `file-type` reports, that browsers and operators write,
 * and those of variants that are taken as the type itself (an animated PNG is a PNG).
 */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  'image/jpeg': ['image/jpg', 'image/pjpeg'],
  'image/png': ['image/apng', 'image/x-png'],
  'image/bmp': ['image/x-ms-bmp', 'image/x-bmp'],
  'image/x-icon': ['image/vnd.microsoft.icon', 'image/ico'],
  'image/heic': ['image/heif', 'image/heic-sequence', 'image/heif-sequence'],
  'image/vnd.adobe.photoshop': ['image/x-photoshop', 'application/x-photoshop'],
  'audio/mpeg': ['audio/mp3', 'audio/x-mp3', 'audio/mpeg3'],
  'audio/mp4': ['audio/x-m4a', 'audio/m4a'],
  'audio/wav': ['audio/vnd.wave', 'audio/wave', 'audio/x-wav', 'audio/x-pn-wav'],
  'audio/ogg': ['audio/ogg; codecs=opus', 'audio/opus', 'audio/vorbis'],
  'audio/flac': ['audio/x-flac'],
  'audio/aac': ['audio/x-aac', 'audio/aacp'],
  'audio/aiff': ['audio/x-aiff'],
  'audio/midi': ['audio/mid', 'audio/x-midi'],
  'audio/x-ms-wma': ['audio/x-ms-asf'],
  'video/mp4': ['video/x-m4v'],
  'video/matroska': ['video/x-matroska'],
  'video/vnd.avi': ['video/x-msvideo', 'video/avi', 'video/msvideo'],
  'video/mpeg': ['video/MP1S', 'video/MP2P'],
  // An Ogg file whose first stream does not show what it is, and an ASF file likewise, may contain anything that video may.
  'video/ogg': ['application/ogg'],
  'video/x-ms-wmv': ['video/x-ms-asf', 'application/vnd.ms-asf'],
  'text/csv': ['application/csv', 'text/x-csv'],
  'text/markdown': ['text/x-markdown'],
  'text/vcard': ['text/x-vcard'],
  'application/json': ['text/json'],
  'application/pdf': ['application/x-pdf'],
  'application/rtf': ['text/rtf'],
  'application/zip': ['application/x-zip-compressed'],
  'application/gzip': ['application/x-gzip'],
  'application/x-rar-compressed': ['application/vnd.rar', 'application/x-rar'],
}

const CANONICAL: ReadonlyMap<string, string> = new Map(
  Object.entries(OTHER_NAMES).flatMap(([name, others]) => others.map((other) => [other, name] as const)),
)

/** The extensions that `file-type` gives to variants, by the one that programs and platforms expect. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    png: ['apng'],
    ico: ['cur'],
    mp3: ['mp1', 'mp2'],
    ogg: ['oga', 'opus', 'spx'],
    m4a: ['m4b', 'f4a', 'f4b'],
    mp4: ['m4v', 'm4p', 'f4v', 'f4p'],
    ogv: ['ogm', 'ogx'],
    wmv: ['asf'],
  }).flatMap(([usual, variants]) => variants.map((variant) => [variant, usual] as const)),
)

export function canonicalName(mediaType: string): string {
  return CANONICAL.get(mediaType) ?? mediaType
}

/** Converts what `file-type` reports. */
export function canonicalType({ ext, mime }: { ext: string; mime: string }): FileType {
  const mediaType = canonicalName(mime)
  if (mediaType === 'audio/x-ms-wma') return { mediaType, extension: 'wma' }
  return { mediaType, extension: EXTENSIONS.get(ext) ?? ext }
}

/** Decides by the configured list, whose entries are media types and wildcards such as `image/*`. */
export function acceptanceOf(accepted: readonly string[]): (mediaType: string) => boolean {
  const names = new Set(accepted.map(canonicalName))
  return (mediaType) => names.has(mediaType) || names.has(`${mediaType.split('/')[0]}/*`)
}

const SHOWN_IMAGES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/bmp',
  'image/x-icon',
])

/**
 * Whether browsers must save the file instead of showing it: true unless they show the type without running anything that
 * is in it. PDF counts as an attachment, because it may contain scripts and forms, which viewers that are plug-ins run with
 * the rights of the site; `Content-Security-Policy: sandbox`, which would stop them, also stops the viewers of browsers.
 */
export function isAttachment(mediaType: string): boolean {
  if (/^(?:audio|video)\//.test(mediaType)) return false
  return !isPlainText(mediaType) && !SHOWN_IMAGES.has(mediaType)
}

/** With or without the parameter `charset`. */
export function isPlainText(mediaType: string): boolean {
  return mediaType.split(';')[0] === 'text/plain'
}
