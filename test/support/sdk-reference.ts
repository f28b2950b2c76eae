import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { codeBlocks } from './examples.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')

/** What is read of the JSON of typedoc. */
interface Reflection {
  readonly name: string
  readonly kind: number
  readonly children?: readonly Reflection[]
  readonly signatures?: readonly Reflection[]
  readonly comment?: { readonly blockTags?: readonly { tag: string; content: readonly { text: string }[] }[] }
  readonly inheritedFrom?: object
  readonly extendedTypes?: readonly { readonly name: string }[]
}

/** A name of the reference, such as `ApiKeys.create`, with its examples. */
export interface DocumentedName {
  readonly path: string
  readonly kind: 'function' | 'class' | 'method' | 'type'
  /** The class of which it is a subclass. */
  readonly base: string | undefined
  readonly examples: readonly string[]
}

/** The reference of the SDK, as `pnpm docs` makes it: what typedoc says of it, which is nothing if all is well, and its names. */
export async function readSdkReference(): Promise<{ complaints: string; names: readonly DocumentedName[] }> {
  const home = await mkdtemp(join(tmpdir(), 'trunkline-reference-'))
  const json = join(home, 'reference.json')
  try {
    // The compiler API that typedoc needs is only in `tools/contract`.
    await run(
      join(ROOT, 'tools/contract/node_modules/.bin/typedoc'),
      ['--logLevel', 'Warn', '--out', join(home, 'html'), '--json', json],
      { cwd: join(ROOT, 'packages/sdk') },
    )
    const { children = [] } = JSON.parse(await readFile(json, 'utf8')) as Reflection
    return { complaints: '', names: children.flatMap(({ children: exports = [] }) => namesIn(exports)) }
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    return { complaints: stdout + stderr || String(error), names: [] }
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

const KINDS: Readonly<Record<number, DocumentedName['kind']>> = {
  64: 'function',
  128: 'class',
  256: 'type',
  2048: 'method',
  2097152: 'type',
}

function namesIn(reflections: readonly Reflection[], parent = ''): DocumentedName[] {
  return reflections.flatMap((reflection) => {
    const kind = KINDS[reflection.kind]
    if (kind === undefined || reflection.inheritedFrom !== undefined) return []
    const path = `${parent}${reflection.name}`
    const comments = [reflection, ...(reflection.signatures ?? [])].map(({ comment }) => comment)
    const tags = comments.flatMap((comment) => comment?.blockTags ?? [])
    const examples = tags
      .filter(({ tag }) => tag === '@example')
      .flatMap(({ content }) => codeBlocks(`${content.map(({ text }) => text).join('')}\n`))
    const base = reflection.extendedTypes?.[0]?.name
    return [{ path, kind, base, examples }, ...namesIn(reflection.children ?? [], `${path}.`)]
  })
}
