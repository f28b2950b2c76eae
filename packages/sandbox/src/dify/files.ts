import { randomUUID } from 'node:crypto'
import { Refusal } from '../serving/answer.ts'
import type { SentFile } from '../serving/list-files.ts'
import { asList, asRecord, asText, type JsonRecord } from '../serving/narrow.ts'
import { Uploads } from '../serving/uploads.ts'
import { difyError, difyErrors, difyJson } from './errors.ts'

const MIB = 1024 * 1024

/** The kinds of files by extension, without those that only an installation with Unstructured knows. */
const KINDS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    image: 'jpg jpeg png webp gif svg',
    video: 'mp4 mov mpeg webm',
    audio: 'mp3 m4a wav amr mpga',
    document: 'txt markdown md mdx pdf html htm xlsx xls docx csv vtt properties',
  }).flatMap(([kind, extensions]) => extensions.split(' ').map((extension) => [extension, kind])),
)

const UPLOAD_MIB_MAX: Readonly<Record<string, number>> = { image: 10, video: 100, audio: 50 }
const OTHER_UPLOAD_MIB_MAX = 15

/** Stores Dify's uploads and looks up the files of a request. An app's end user sees only its own uploads. */
export class DifyFiles {
  readonly #uploads = new Uploads()

  upload(body: JsonRecord, owner: string) {
    const { filename, contentType, size, sha256 } = asRecord(body.file)
    const name = checkName(asText(filename))
    const extension = extensionOf(name)
    // Stands for all file types that an installation may block.
    if (extension === 'exe')
      throw new Refusal(difyError(415, 'unsupported_file_type', 'File type not allowed.'))
    if (Number(size) > MIB * (UPLOAD_MIB_MAX[KINDS[extension] ?? ''] ?? OTHER_UPLOAD_MIB_MAX))
      throw new Refusal(difyError(413, 'file_too_large', 'File size exceeded.'))
    const id = randomUUID()
    const mimeType = asText(contentType)
    this.#uploads.add(id, {
      owner,
      filename: name,
      contentType: mimeType,
      size: Number(size),
      sha256: asText(sha256),
    })
    return difyJson(201, {
      id,
      name,
      size,
      extension,
      mime_type: mimeType,
      created_by: randomUUID(),
      created_at: Math.floor(Date.now() / 1_000),
    })
  }

  /** @throws Refusal if an upload is unknown, a URL is invalid, or a file is of another type than stated */
  find(files: unknown, owner: string): readonly SentFile[] {
    return asList(files).map((file) => this.#find(asRecord(file), owner))
  }

  forget(): void {
    this.#uploads.forget()
  }

  #find({ type, transfer_method, upload_file_id, url }: JsonRecord, owner: string): SentFile {
    if (transfer_method !== 'local_file') return checkUrl(asText(url), type)
    const id = asText(upload_file_id)
    if (id === '') throw invalid('Invalid upload file id')
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id))
      throw invalid('Invalid upload file id format')
    const upload = this.#uploads.find(id, owner)
    if (!upload) throw invalid('Invalid upload file')
    const { filename, contentType, size, sha256 } = upload
    checkKind(KINDS[extensionOf(filename)] ?? kindOfMedia(contentType), type)
    return { name: filename, size, sha256 }
  }
}

// Releases of 2025 reject all of these, newer ones only the separators.
const FORBIDDEN_IN_NAMES = /[/\\:*?"<>|]/
const NAME_CHARACTERS_MAX = 200

function checkName(name: string): string {
  if (!name) throw new Refusal(difyError(400, 'no_file_uploaded', 'Please upload your file.'))
  if (FORBIDDEN_IN_NAMES.test(name)) throw invalid('Filename contains invalid characters')
  if (Array.from(name).length <= NAME_CHARACTERS_MAX) return name
  const stem = Array.from(name.split('.')[0] ?? '').slice(0, NAME_CHARACTERS_MAX)
  return `${stem.join('')}.${extensionOf(name)}`
}

function checkUrl(url: string, type: unknown): SentFile {
  if (!URL.canParse(url)) throw invalid('Invalid file url')
  // Without a known extension, Dify judges a URL by its Content-Type; here it may be of any kind.
  checkKind(KINDS[extensionOf(new URL(url).pathname)], type)
  return { url, name: '' }
}

function checkKind(detected: string | undefined, stated: unknown): void {
  if (detected === undefined || !stated || stated === 'custom') return
  if (stated !== detected) throw new Refusal(difyErrors.rejected)
}

function kindOfMedia(type: string): string {
  const kind = ['image', 'video', 'audio'].find((each) => type.includes(each))
  return kind ?? (type.includes('text') || type.includes('pdf') ? 'document' : 'custom')
}

function extensionOf(name: string): string {
  return /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase() ?? ''
}

function invalid(message: string): Refusal {
  return new Refusal(difyError(400, 'invalid_param', message))
}
