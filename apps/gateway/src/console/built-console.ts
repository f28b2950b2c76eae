import { existsSync, globSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { shippedFile } from '#core/base/shipped-files.ts'
import { type FixedBody, fixedBody } from '#http/response/fixed-body.ts'
import type { Coding } from './accepted-coding.ts'

/** A file of the console, as it is and in the codings in which the build has compressed it. */
export interface ConsoleFile {
  readonly type: string
  readonly body: FixedBody
  readonly coded: ReadonlyMap<Coding, FixedBody>
}

/** What `apps/console/scripts/build.ts` has built. */
export interface BuiltConsole {
  readonly page: ConsoleFile
  /** All files, by their path below `/console/`. */
  readonly files: ReadonlyMap<string, ConsoleFile>
  /** The GraphQL documents that the console sends, by their SHA-256. */
  readonly documents: Readonly<Record<string, string>>
}

const BUILT = fileURLToPath(shippedFile('console'))

/**
 * Reads the whole build into memory, or returns undefined if there is none. A request can then only reach files that were
 * there at the start, and a page keeps its files while another build replaces those on disk.
 */
export function readBuiltConsole(folder = BUILT): BuiltConsole | undefined {
  const root = join(folder, 'files')
  if (!existsSync(root)) return undefined
  const files = new Map<string, ConsoleFile>()
  for (const entry of globSync('**/*', { cwd: root, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile() || CODED.test(entry.name)) continue
    files.set(path.slice(root.length + 1).replaceAll('\\', '/'), readConsoleFile(path))
  }
  const page = files.get('index.html')
  if (page === undefined) return undefined
  const documents = JSON.parse(readFileSync(join(folder, 'persisted-documents.json'), 'utf8'))
  return { page, files, documents }
}

/** The endings under which the build stores compressed files beside the files themselves. */
const ENDINGS = { br: '.br', gzip: '.gz' } as const satisfies Record<Coding, string>
const CODED = /\.(?:br|gz)$/

function readConsoleFile(path: string): ConsoleFile {
  const coded = new Map<Coding, FixedBody>()
  for (const [coding, ending] of Object.entries(ENDINGS) as [Coding, string][]) {
    if (existsSync(path + ending)) coded.set(coding, fixedBody(readFileSync(path + ending)))
  }
  const type = TYPES[extname(path)] ?? 'application/octet-stream'
  return { type, body: fixedBody(readFileSync(path)), coded }
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.webp': 'image/webp',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
}
