import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { Answer } from './api.ts'

const BOUNDARY = '----boundary-of-the-tests'

export interface FormPart {
  readonly name: string
  /** Makes the part a file. */
  readonly filename?: string
  readonly content: string | Uint8Array
}

export const filePart = (content: FormPart['content'], filename = 'note.txt'): FormPart => ({
  name: 'file',
  filename,
  content,
})

export const CREATED_BY: FormPart = { name: 'created_by', content: 'me' }

/** The bytes that curl would send for these parts. */
export function formOf(...parts: readonly FormPart[]): Buffer {
  return Buffer.concat([...parts.flatMap((part) => [headOf(part), Buffer.from(part.content), CRLF]), END])
}

const CRLF = Buffer.from('\r\n')
const END = Buffer.from(`--${BOUNDARY}--\r\n`)

function headOf({ name, filename }: FormPart): Buffer {
  const file =
    filename === undefined ? '' : `; filename="${filename}"\r\nContent-Type: application/octet-stream`
  return Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`)
}

/** The beginning of a form: the label, and the head of a file whose content follows. */
export function formUpToFile(filename = 'note.txt'): Buffer {
  const label = Buffer.concat([headOf(CREATED_BY), Buffer.from(CREATED_BY.content), CRLF])
  return Buffer.concat([label, headOf({ name: 'file', filename, content: '' })])
}

/** What follows the content of the last file. */
export const END_OF_FORM: Buffer = Buffer.concat([CRLF, END])

export interface UploadOptions {
  /** The `Content-Length`; without it the form is sent in chunks. */
  readonly length?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** An upload that the test sends piece by piece. */
export interface OpenUpload {
  /** Resolves when the system has taken the bytes, or the connection has closed. */
  write(bytes: Uint8Array | string): Promise<void>
  end(): void
  /** Closes the connection. */
  leave(): void
  /** Rejects if the connection closes without an answer. */
  readonly answer: Promise<Answer>
}

export function openUpload(url: string, key: string, { length, headers }: UploadOptions = {}): OpenUpload {
  const sent = request(`${url}/api/v1/upload`, {
    method: 'POST',
    // Each upload has a connection of its own, because some tests break it.
    agent: false,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      ...(length !== undefined && { 'content-length': String(length) }),
      ...headers,
    },
  })
  const answer = answerOf(sent)
  // The test may only be interested in what is left behind.
  answer.catch(() => undefined)
  const closed = once(sent, 'close')
  sent.flushHeaders()
  return {
    write: async (bytes) => {
      if (sent.destroyed) return
      // Node does not call back for what was not sent before the connection closed.
      await Promise.race([closed, new Promise((resolve) => sent.write(bytes, resolve))])
    },
    end: () => void sent.end(),
    leave: () => void sent.destroy(),
    answer,
  }
}

/** Sends a whole form in pieces of 64 KiB, as a client does that reads a file. */
export async function sendForm(
  url: string,
  key: string,
  form: Uint8Array,
  { isChunked = false, headers = {} }: { isChunked?: boolean; headers?: UploadOptions['headers'] } = {},
): Promise<Answer> {
  const upload = openUpload(url, key, { headers, ...(!isChunked && { length: form.length }) })
  for (let start = 0; start < form.length; start += PIECE_BYTES) {
    await upload.write(form.subarray(start, start + PIECE_BYTES))
  }
  upload.end()
  return await upload.answer
}

const PIECE_BYTES = 65_536

async function answerOf(sent: ClientRequest): Promise<Answer> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve)
    // After the response it is the server that closes the connection on a client that is still sending.
    sent.on('error', reject)
  })
  let text = ''
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  await once(response, 'end')
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(response.headersDistinct)) {
    for (const value of values) headers.append(name, value)
  }
  return { status: response.statusCode ?? 0, headers, body: JSON.parse(text) }
}
