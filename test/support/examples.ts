import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')

/** The code blocks of a Markdown text in TypeScript, or in a language that is close to it. */
export function codeBlocks(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^```(?:ts|js|tsx|mjs)\n(.*?)^```/gms)].map(([, code = '']) => code)
}

/** The code blocks by the file name in their first line, a comment. A block without a name is an error. */
export function namedExamples(markdown: string): ReadonlyMap<string, string> {
  return new Map(
    codeBlocks(markdown).map((code) => {
      const [, name, rest = ''] = /^\/\/ (\S+)\n(.*)$/s.exec(code) ?? []
      if (name === undefined) throw new Error(`an example without a file name:\n${code}`)
      return [name, rest]
    }),
  )
}

/**
 * Writes the examples into a folder of a project in which the packages are installed, where the programs find them, and
 * returns its path.
 */
export async function writeExamples(
  project: string,
  examples: Iterable<readonly [name: string, code: string]>,
): Promise<string> {
  const home = join(project, 'examples')
  await mkdir(home, { recursive: true })
  await writeFile(join(home, 'package.json'), '{ "type": "module" }')
  for (const [name, code] of examples) await writeFile(join(home, name), code)
  return home
}

/** What the type checker says of the examples in a folder, with the options of a strict project. */
export async function typeErrors(home: string): Promise<string> {
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2023', 'dom'],
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
  }
  await writeFile(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const { stdout } = await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', home]).catch(
    (error: { stdout: string }) => error,
  )
  return stdout
}
