import { randomUUID } from 'node:crypto'
import { Refusal } from './answer.ts'
import { difyError, difyErrors, difyJson } from './dify-errors.ts'
import type { RequestContext } from './http-server.ts'
import { asList, asRecord, asText, type JsonRecord } from './narrow.ts'

interface Upload {
  readonly user: string
  readonly name: string
}

const FILE_BYTES_MAX = 15 * 1024 * 1024

const EXTENSIONS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    image: 'jpg jpeg png webp gif svg',
    video: 'mp4 mov mpeg webm',
    audio: 'mp3 m4a wav amr mpga',
    document: 'txt markdown md mdx pdf html htm xlsx xls docx csv vtt properties',
  }).flatMap(([type, extensions]) => extensions.split(' ').map((extension) => [extension, type])),
)

/** Stores Dify's uploads and resolves the files of a request. */
export class DifyFiles {
  readonly #uploads = new Map<string, Upload>()

  upload({ body }: RequestContext) {
    const file = asRecord(body.file)
    const name = asText(file.filename)
    const size = Number(file.size)
    if (!name) throw new Refusal(difyError(400, 'no_file_uploaded', 'Please upload your file.'))
    if (size > FILE_BYTES_MAX) throw new Refusal(difyError(413, 'file_too_large', 'File size exceeded.'))
    const extension = extensionOf(name)
    // Stands for all file types that no app accepts.
    if (extension === 'exe')
      throw new Refusal(difyError(415, 'unsupported_file_type', 'File type not allowed.'))
    const id = randomUUID()
    this.#uploads.set(id, { user: asText(body.user), name })
    return difyJson(201, {
      id,
      name,
      size,
      extension,
      mime_type: asText(file.contentType),
      created_by: randomUUID(),
      created_at: Math.floor(Date.now() / 1_000),
    })
  }

  /**
   * Returns the names by which the reply lists the files.
   *
   * @throws Refusal if an upload is unknown or a URL is invalid or of another type than stated
   */
  names(files: unknown, user: string): readonly string[] {
    return asList(files).map((file) => this.#name(asRecord(file), user))
  }

  #name(file: JsonRecord, user: string): string {
    if (file.transfer_method === 'local_file') {
      const upload = this.#uploads.get(asText(file.upload_file_id))
      if (upload?.user !== user) throw new Refusal(difyError(400, 'invalid_param', 'Invalid upload file'))
      return upload.name
    }
    const url = asText(file.url)
    if (!URL.canParse(url)) throw new Refusal(difyError(400, 'invalid_param', 'Invalid file url'))
    const detected = EXTENSIONS[extensionOf(new URL(url).pathname)]
    if (detected && file.type !== 'custom' && file.type !== detected) throw new Refusal(difyErrors.rejected)
    return url
  }
}

function extensionOf(name: string): string {
  return /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase() ?? ''
}
