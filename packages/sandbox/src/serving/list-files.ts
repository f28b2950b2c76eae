import { createHash } from 'node:crypto'
import type { EventEmitter } from 'node:events'

/** A file that the platform reads from its URL. */
export interface LinkedFile {
  readonly url: string
  /** If empty, the last segment of the URL's path is the name. */
  readonly name: string
  /** Whether the platform also accepts a `data:` URL. */
  readonly mayBeData?: boolean
}

/** A file that was uploaded to the platform. */
export interface UploadedFile {
  readonly name: string
  readonly size: number
  readonly sha256: string
}

export type SentFile = LinkedFile | UploadedFile

interface Limits {
  readonly timeoutMs: number
  readonly bytesMax: number
}

const LIMITS: Limits = { timeoutMs: 10_000, bytesMax: 64 * 1024 * 1024 }

/**
 * Returns one line for each file, with its name, size and hash, or with the reason why it cannot be read. Reads
 * the linked files, as the platforms do before they reply, but keeps none of their bytes.
 *
 * @param response the response that waits for the lines; when it closes, reading ends
 */
export async function listFiles(
  files: readonly SentFile[],
  response: EventEmitter,
  limits = LIMITS,
): Promise<readonly string[]> {
  if (files.length === 0) return []
  const closing = new AbortController()
  const close = () => closing.abort(new Error('the client has disconnected'))
  response.once('close', close)
  const lines = await Promise.all(files.map((file) => lineOf(file, closing.signal, limits)))
  response.off('close', close)
  // A name could otherwise begin a line of its own.
  return lines.map((line) => line.replaceAll(/[\p{Cc}\u2028\u2029]/gu, '\uFFFD'))
}

async function lineOf(file: SentFile, signal: AbortSignal, limits: Limits): Promise<string> {
  if ('sha256' in file) return goodLine(file)
  try {
    return goodLine({ name: file.name || nameOf(file.url), ...(await readLinked(file, signal, limits)) })
  } catch (error) {
    const label = `${file.name} ${headOf(file.url)}`.trim()
    return `${label} (not readable: ${reasonOf(error, limits)})`
  }
}

function goodLine({ name, size, sha256 }: UploadedFile): string {
  return `${name} (${size} bytes, sha256 ${sha256})`
}

const HTTP = /^https?:/i
const DATA = /^data:/i

// RFC 2606 reserves these names for examples, so that a lookup could only take time.
const EXAMPLE_HOST = /(^|\.)(example(\.(com|net|org))?|invalid)\.?$/

interface Digest {
  readonly size: number
  readonly sha256: string
}

async function readLinked(
  { url, mayBeData }: LinkedFile,
  closing: AbortSignal,
  limits: Limits,
): Promise<Digest> {
  if (HTTP.test(url)) return fetchDigest(url, closing, limits)
  if (!mayBeData || !DATA.test(url)) throw new Error('not an accepted URL')
  const bytes = decodeData(url)
  return { size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
}

async function fetchDigest(
  url: string,
  closing: AbortSignal,
  { timeoutMs, bytesMax }: Limits,
): Promise<Digest> {
  if (EXAMPLE_HOST.test(new URL(url).hostname)) throw new Error('a name for examples')
  const signal = AbortSignal.any([closing, AbortSignal.timeout(timeoutMs)])
  const response = await fetch(url, { signal })
  if (!response.ok) {
    await response.body?.cancel()
    throw new Error(`status ${response.status}`)
  }
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > bytesMax) throw new Error(`more than ${bytesMax} bytes`)
    hash.update(chunk)
  }
  return { size, sha256: hash.digest('hex') }
}

/** Decodes without `fetch`, which needs 12 s for the `data:` URL of 50 MiB and blocks the process meanwhile. */
function decodeData(url: string): Buffer {
  const comma = url.indexOf(',')
  if (comma < 0) throw new Error('no comma')
  const payload = url.slice(comma + 1)
  if (!/;\s*base64$/i.test(url.slice(0, comma))) return Buffer.from(decodeURIComponent(payload))
  if (!/^[a-z0-9+/]*={0,2}$/i.test(payload)) throw new Error('not base64')
  return Buffer.from(payload, 'base64')
}

function nameOf(url: string): string {
  if (DATA.test(url)) return headOf(url)
  const { pathname } = new URL(url)
  const segment = pathname.slice(pathname.lastIndexOf('/') + 1)
  return decodeSegment(segment) || url
}

/** Returns the URL; of a `data:` URL only the head, because the rest is the file itself. */
function headOf(url: string): string {
  return DATA.test(url) ? url.replace(/,.*/s, ',…') : url
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function reasonOf(error: unknown, { timeoutMs }: Limits): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `not within ${timeoutMs} ms`
  // The message of `fetch` is always "fetch failed"; its cause says why.
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message
}
