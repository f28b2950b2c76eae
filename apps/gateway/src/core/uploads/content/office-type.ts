import { extname } from 'node:path'

/** A type as `file-type` reports it. */
interface FoundType {
  readonly ext: string
  readonly mime: string
}

interface PackageKind {
  readonly folder: string
  readonly plain: FoundType
  readonly withMacros: FoundType
}

const OPEN_XML = 'application/vnd.openxmlformats-officedocument'

const PACKAGE_KINDS: readonly PackageKind[] = [
  {
    folder: 'word/',
    plain: { ext: 'docx', mime: `${OPEN_XML}.wordprocessingml.document` },
    withMacros: { ext: 'docm', mime: 'application/vnd.ms-word.document.macroenabled.12' },
  },
  {
    folder: 'xl/',
    plain: { ext: 'xlsx', mime: `${OPEN_XML}.spreadsheetml.sheet` },
    withMacros: { ext: 'xlsm', mime: 'application/vnd.ms-excel.sheet.macroenabled.12' },
  },
  {
    folder: 'ppt/',
    plain: { ext: 'pptx', mime: `${OPEN_XML}.presentationml.presentation` },
    withMacros: { ext: 'pptm', mime: 'application/vnd.ms-powerpoint.presentation.macroenabled.12' },
  },
]

const BINARY_WORKBOOK: FoundType = {
  ext: 'xlsb',
  mime: 'application/vnd.ms-excel.sheet.binary.macroenabled.12',
}

/**
 * Recognizes Office Open XML by the names in the package, for files whose `[Content_Types].xml` is not in the sample or says
 * nothing that `file-type` knows.
 *
 * @param sample the beginning of a ZIP file
 */
export function openXmlType(sample: Uint8Array): FoundType | undefined {
  const names = [...entryNames(Buffer.from(sample.buffer, sample.byteOffset, sample.byteLength))]
  const kind = PACKAGE_KINDS.find(({ folder }) => names.some((name) => name.startsWith(folder)))
  if (kind === undefined) return undefined
  if (names.includes('xl/workbook.bin')) return BINARY_WORKBOOK
  return names.includes(`${kind.folder}vbaProject.bin`) ? kind.withMacros : kind.plain
}

const LEGACY_OFFICE: ReadonlyMap<string, string> = new Map([
  ['.doc', 'application/msword'],
  ['.xls', 'application/vnd.ms-excel'],
  ['.ppt', 'application/vnd.ms-powerpoint'],
])

/**
 * The type of a compound file, the container of Word, Excel and PowerPoint until 2003. Other programs use it too, for
 * installers and mails; what distinguishes them may be anywhere in the file, so the extension decides.
 */
export function legacyOfficeType(filename: string): FoundType | undefined {
  const extension = extname(filename).toLowerCase()
  const mime = LEGACY_OFFICE.get(extension)
  return mime === undefined ? undefined : { ext: extension.slice(1), mime }
}

const LOCAL_HEADER = Buffer.from('PK\x03\x04', 'latin1')
const LOCAL_HEADER_BYTES = 30
const HAS_DATA_DESCRIPTOR = 0x08

/**
 * The names of the entries, from local header to local header. Headers are not simply searched for, because an entry that
 * is itself a package would contribute the names in it.
 */
function* entryNames(zip: Buffer): Generator<string> {
  let at = 0
  while (at + LOCAL_HEADER_BYTES <= zip.length && zip.subarray(at, at + 4).equals(LOCAL_HEADER)) {
    const dataAt = at + LOCAL_HEADER_BYTES + zip.readUInt16LE(at + 26) + zip.readUInt16LE(at + 28)
    const nameAt = at + LOCAL_HEADER_BYTES
    yield zip.toString('latin1', nameAt, nameAt + zip.readUInt16LE(at + 26))
    const isSizeKnown = (zip.readUInt16LE(at + 6) & HAS_DATA_DESCRIPTOR) === 0
    at = isSizeKnown ? dataAt + zip.readUInt32LE(at + 18) : afterDescriptor(zip, dataAt)
  }
}

/** Where the next header begins if the size of the entry is only known from the descriptor that follows its data. */
function afterDescriptor(zip: Buffer, dataAt: number): number {
  let next = zip.indexOf(LOCAL_HEADER, dataAt)
  while (next !== -1 && !followsDescriptor(zip, dataAt, next)) next = zip.indexOf(LOCAL_HEADER, next + 1)
  return next === -1 ? zip.length : next
}

/**
 * Whether a descriptor that ends at `next` gives the size of the data before it. A descriptor is the checksum and the two
 * sizes, of 4 bytes each (8 in ZIP64), with or without a signature in front.
 */
function followsDescriptor(zip: Buffer, dataAt: number, next: number): boolean {
  const isSizeAt = (sizeAt: number, dataEnd: number) =>
    dataEnd >= dataAt && zip.readUInt32LE(sizeAt) === dataEnd - dataAt
  return (
    isSizeAt(next - 8, next - 16) ||
    isSizeAt(next - 8, next - 12) ||
    isSizeAt(next - 16, next - 24) ||
    isSizeAt(next - 16, next - 20)
  )
}
