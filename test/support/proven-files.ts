import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withImportedFiles } from './imports.ts'
import { HEAVY } from './suites.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Tracked, so that what has passed on one machine need not run on the next. */
const RECORD = join(import.meta.dirname, 'proven-files.json')
/** For every file, because it decides which versions of libraries run. */
const LOCKFILE = 'pnpm-lock.yaml'

/**
 * A digest of each heavy file with all that it depends on: the paths that `HEAVY` names for it, without the tests below them,
 * and what it imports of `test/`.
 */
export function digestsOfHeavyFiles(): Readonly<Record<string, string>> {
  const digests = Object.entries(HEAVY).map(([file, paths]) => {
    const sources = filesIn([LOCKFILE, ...paths]).filter((path) => !/\.test(?:-support)?\.tsx?$/.test(path))
    const hash = createHash('sha256')
    for (const path of [...new Set([...sources, ...withImportedFiles(file)])].sort()) {
      hash
        .update(`${path}\0`)
        .update(readFileSync(join(ROOT, path)))
        .update('\0')
    }
    return [file, hash.digest('base64url').slice(0, 16)] as const
  })
  return Object.fromEntries(digests)
}

/** The heavy files that have passed since anything changed that they depend on. */
export function provenFiles(): readonly string[] {
  const [recorded, digests] = [readRecord(), digestsOfHeavyFiles()]
  return Object.keys(HEAVY).filter((file) => recorded[file] === digests[file])
}

/** Records that heavy files have passed, with their digests at the time of the run. */
export function recordProven(digests: Readonly<Record<string, string>>): void {
  const recorded = Object.entries({ ...readRecord(), ...digests }).filter(([file]) => file in HEAVY)
  writeFileSync(RECORD, `${JSON.stringify(Object.fromEntries(recorded.sort()), null, 2)}\n`)
}

function readRecord(): Readonly<Record<string, string>> {
  return existsSync(RECORD) ? JSON.parse(readFileSync(RECORD, 'utf8')) : {}
}

/** The files below these paths that are tracked, or would be. Each path must have one. */
function filesIn(paths: readonly string[]): readonly string[] {
  const files = paths.flatMap((path) => {
    const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', path]
    const found = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\0').filter(Boolean)
    if (found.length === 0)
      throw new Error(`${path}: a heavy file of tests depends on it, and it is not there`)
    return found
  })
  return files.filter((file) => existsSync(join(ROOT, file)))
}
