import { extname } from 'node:path'
import { fileTypeFromBuffer } from 'file-type'
import { Problem } from '#core/base/errors/errors.ts'
import { acceptanceOf, canonicalType, type FileType, isAttachment } from './media-types.ts'
import { legacyOfficeType, openXmlType } from './office-type.ts'
import { TextCheck } from './text-check.ts'

/** How much of a file's beginning decides its type. */
export const SAMPLE_BYTES = 64 * 1024

export interface CheckedType extends FileType {
  /** The type under which the file is stored and served; that of text may have the parameter `charset`. */
  readonly mediaType: string
  /** Whether browsers must save the file instead of showing it. */
  readonly isAttachment: boolean
  /** Present if the file is text. The whole file must pass it, from the first byte on, since the sample is only a part. */
  readonly text?: TextCheck
}

/**
 * Takes the first {@link SAMPLE_BYTES} of a file, or all of it if it is shorter, and the name under which it was sent.
 *
 * @throws Problem `file_type_not_accepted`
 */
export type CheckType = (sample: Uint8Array, filename: string) => Promise<CheckedType>

/**
 * Returns a function that decides by a file's content what it is and whether it is accepted.
 *
 * @param accepted media types and wildcards such as `image/*`. HTML, XML and SVG are always taken as plain text, so to list
 * them has no effect.
 */
export function createTypeCheck(accepted: readonly string[]): CheckType {
  const isAccepted = acceptanceOf(accepted)
  return async (sample, filename) => {
    const text = textIn(sample)
    const found = await fileTypeIn(sample, filename)
    // Text comes first: file-type recognizes some types by two letters, such as images by `BM`, with which a CSV may begin.
    if (text !== undefined && !(found !== undefined && WRITTEN_AS_TEXT.has(found.mediaType))) {
      const type = textTypeOf(filename, isAccepted)
      if (type === undefined) return refuse('text', accepted)
      return {
        ...type,
        mediaType: withCharset(type.mediaType, text, sample),
        isAttachment: isAttachment(type.mediaType),
        text: new TextCheck(sample),
      }
    }
    if (found === undefined || !isAccepted(found.mediaType)) return refuse(found?.mediaType, accepted)
    return { ...found, isAttachment: isAttachment(found.mediaType) }
  }
}

/** Documents that may consist of nothing but text, and are recognized by more than two letters. */
const WRITTEN_AS_TEXT: ReadonlySet<string> = new Set(['application/pdf', 'application/rtf'])

function textIn(sample: Uint8Array): TextCheck | undefined {
  const check = new TextCheck(sample)
  return check.accepts(sample) && (!isWhole(sample) || check.acceptsEnd()) ? check : undefined
}

/** A file of exactly this size counts as longer: its last character is checked when it ends. */
function isWhole(sample: Uint8Array): boolean {
  return sample.length < SAMPLE_BYTES
}

const TEXT_TYPES: ReadonlyMap<string, FileType> = new Map([
  ['.csv', { mediaType: 'text/csv', extension: 'csv' }],
  ['.md', { mediaType: 'text/markdown', extension: 'md' }],
  ['.markdown', { mediaType: 'text/markdown', extension: 'md' }],
  ['.json', { mediaType: 'application/json', extension: 'json' }],
  ['.tsv', { mediaType: 'text/tab-separated-values', extension: 'tsv' }],
  ['.vtt', { mediaType: 'text/vtt', extension: 'vtt' }],
  ['.ics', { mediaType: 'text/calendar', extension: 'ics' }],
  ['.vcf', { mediaType: 'text/vcard', extension: 'vcf' }],
])

const PLAIN_TEXT: FileType = { mediaType: 'text/plain', extension: 'txt' }

/** The extension chooses among the accepted types; everything else is plain text, whatever language it is written in. */
function textTypeOf(filename: string, isAccepted: (mediaType: string) => boolean): FileType | undefined {
  const named = TEXT_TYPES.get(extname(filename).toLowerCase())
  return [named, PLAIN_TEXT].find((type) => type !== undefined && isAccepted(type.mediaType))
}

/**
 * The type must be known before the rest of the file is, since it goes to the storage first. So the encoding is named only
 * if the rest cannot change it: the file is whole in the sample, or all other encodings are ruled out already. GB18030 is
 * never named, because text in other old encodings is often valid in it by chance. JSON has no such parameter (RFC 8259).
 */
function withCharset(mediaType: string, { encodings }: TextCheck, sample: Uint8Array): string {
  const [encoding, ...others] = encodings
  const isCertain = encoding !== 'gb18030' && (others.length === 0 || isWhole(sample))
  return isCertain && mediaType.startsWith('text/') ? `${mediaType}; charset=${encoding}` : mediaType
}

async function fileTypeIn(sample: Uint8Array, filename: string): Promise<FileType | undefined> {
  if (startsWith(sample, GZIP)) return { mediaType: 'application/gzip', extension: 'gz' }
  const found = await fileTypeFromBuffer(sample)
  if (found === undefined) {
    return TIFF.some((start) => startsWith(sample, start))
      ? { mediaType: 'image/tiff', extension: 'tif' }
      : undefined
  }
  if (found.mime === 'application/zip') return canonicalType(openXmlType(sample) ?? found)
  if (found.mime === 'application/x-cfb') return canonicalType(legacyOfficeType(filename) ?? found)
  return canonicalType(found)
}

/** file-type would look for an archive in it, for which it decompresses up to 16 MiB. */
const GZIP = [0x1f, 0x8b]

/** file-type fails where the directory of the file comes after the sample, which is usual. */
const TIFF = [
  [0x49, 0x49, 42, 0],
  [0x4d, 0x4d, 0, 42],
]

function startsWith(sample: Uint8Array, start: readonly number[]): boolean {
  return start.every((byte, index) => sample[index] === byte)
}

function refuse(found: string | undefined, accepted: readonly string[]): never {
  const hint = found === 'application/x-cfb' ? ' (accepted only as .doc, .xls or .ppt)' : ''
  throw new Problem('file_type_not_accepted', {
    field: ['file'],
    detail: `expected ${accepted.join(', ')}; found ${found ?? 'a file of no known type'}${hint}.`,
  })
}
