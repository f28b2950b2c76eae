import { plainText, Refusal } from '../serving/answer.ts'
import type { RequestContext, Routes } from '../serving/http-server.ts'
import type { Faults } from './faults.ts'

/** A file that a reply consists of, beside its text or alone. */
export interface MadeFile {
  readonly type: 'image' | 'document'
  readonly name: string
  readonly mediaType: string
  readonly size: number
  readonly url: string
  /** Whether it is the user's own, which a platform repeats. */
  readonly isOfUser: boolean
}

/** The files of a reply. */
export interface MadeFiles {
  readonly files: readonly MadeFile[]
  /** Whether the reply has no text. */
  readonly isAlone: boolean
}

export function madeFiles({ file: kind }: Faults, { headers }: Pick<RequestContext, 'headers'>): MadeFiles {
  if (kind === undefined) return { files: [], isAlone: false }
  const origin = kind === 'relative' ? '' : `http://${headers.host}`
  const isOfUser = kind === 'mine'
  const make = (content: Content, name: string): MadeFile => {
    const { type, mediaType, bytes } = content
    const data = `data:${mediaType};base64,${bytes.toString('base64')}`
    const url = kind === 'bytes' ? data : `${origin}${PATH}/${name}`
    return { type, name, mediaType, size: bytes.length, url, isOfUser }
  }
  const files =
    kind === 'ten'
      ? [1, 2, 3, 4, 5].flatMap((n) => [make(PICTURE, `chart-${n}.png`), make(REPORT, `report-${n}.pdf`)])
      : [make(PICTURE, 'chart.png')]
  return { files, isAlone: kind === 'alone' || kind === 'mine' }
}

const PATH = '/made-files'

interface Content {
  readonly type: MadeFile['type']
  readonly mediaType: string
  readonly bytes: Buffer
}

/** One pixel. */
const PICTURE: Content = {
  type: 'image',
  mediaType: 'image/png',
  bytes: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
    'base64',
  ),
}

/** One empty page. */
const REPORT: Content = { type: 'document', mediaType: 'application/pdf', bytes: Buffer.from(emptyPdf()) }

function emptyPdf(): string {
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 72 72]>>',
  ]
  let text = '%PDF-1.4\n'
  const places = objects.map((object, index) => {
    const at = text.length
    text += `${index + 1} 0 obj${object}endobj\n`
    return `${String(at).padStart(10, '0')} 00000 n \n`
  })
  const size = objects.length + 1
  return `${text}xref\n0 ${size}\n0000000000 65535 f \n${places.join('')}trailer<</Size ${size}/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF\n`
}

/** Serves the files, of any name, without a credential. */
export const MADE_FILE_ROUTES: Routes = {
  [`GET ${PATH}/:name`]: async ({ params, response }) => {
    const extension = params.name?.split('.').at(-1)
    const content = extension === 'png' ? PICTURE : extension === 'pdf' ? REPORT : undefined
    if (content === undefined) throw new Refusal(plainText(404, 'Not Found'))
    const { mediaType, bytes } = content
    response.writeHead(200, { 'content-type': mediaType, 'content-length': bytes.length }).end(bytes)
  },
}
