import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'vite'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** A link to a line of the sources, whose text is what is declared there: a function, a class, or one within the other. */
const SYMBOL_LINK = /\[`([\w$]+(?:\.[\w$]+)*)`\]\(([^)#\s]+\.ts)#L\d+\)/g

/** Where a file may have gone to that was moved or renamed. */
const SOURCES = 'apps/gateway/src/**/*.ts'
const NOT_SOURCES = ['**/*.test.ts', '**/*.test-support.ts', '**/generated/**']

/**
 * Returns a page in which every link to a symbol leads to the line that declares it. A symbol that is no longer in the file of
 * its link is looked for in the sources of the gateway, first in files of the same name, and its link then leads there.
 *
 * @param page - the path of the page, to which its links are relative
 * @throws Error that names all symbols which are declared nowhere, or in several files
 */
export function withSymbolLinks(page: string, text: string): string {
  const problems: string[] = []
  const folder = posix.dirname(page)
  const linked = text.replaceAll(SYMBOL_LINK, (link, symbol: string, path: string) => {
    const file = posix.join(folder, path)
    const found = placeOf(symbol, file)
    if (typeof found === 'string') {
      problems.push(`${page}: \`${symbol}\`, linked to ${file}, ${found}`)
      return link
    }
    return `[\`${symbol}\`](${posix.relative(folder, found.file)}#L${found.line})`
  })
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return linked
}

interface Place {
  readonly file: string
  readonly line: number
}

/** The place of a symbol, or what is wrong with it. */
function placeOf(symbol: string, file: string): Place | string {
  const [here] = existsSync(join(ROOT, file)) ? placesIn([file], symbol) : []
  if (here !== undefined) return here
  const files = globSync(SOURCES, { cwd: ROOT, exclude: NOT_SOURCES })
  const places = placesIn(files, symbol)
  const sameName = places.filter((place) => basename(place.file) === basename(file))
  const [found, ...others] = sameName.length > 0 ? sameName : places
  if (found === undefined)
    return 'is declared neither there nor in any other source. Link what does this now, or rename it in the page.'
  if (others.length === 0) return found
  const all = [found, ...others].map((place) => place.file).join(', ')
  return `is declared in several files, and not in that one. Link the right one of ${all}.`
}

function placesIn(files: readonly string[], symbol: string): readonly Place[] {
  const lastName = symbol.split('.').at(-1) ?? symbol
  return files.flatMap((file) => {
    const source = readFileSync(join(ROOT, file), 'utf8')
    // Parsing all sources would take seconds.
    if (!source.includes(lastName)) return []
    const line = declarationsIn(file, source).get(symbol)
    return line === undefined ? [] : [{ file, line }]
  })
}

/**
 * The lines of the declarations in a source by their names, each after those of the declarations around it, such as
 * `createLedger.settle` and `Reply.read`. Overloads have no body, so they are not among them.
 */
function declarationsIn(file: string, source: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>()
  const visit = (node: unknown, around: readonly string[]): void => {
    if (typeof node !== 'object' || node === null) return
    const name = declaredBy(node as Declaration)
    const path = name === undefined ? around : [...around, name]
    if (name !== undefined && !lines.has(path.join('.')))
      lines.set(path.join('.'), source.slice(0, (node as Declaration).start).split('\n').length)
    for (const child of Object.values(node)) visit(child, path)
  }
  visit(parseSync(file, source).program, [])
  return lines
}

/** What is read of the nodes of a program that declare something. */
interface Declaration {
  readonly type: string
  readonly start: number
  readonly id?: Name | null
  readonly key?: Name
  readonly value?: { readonly type: string; readonly body?: unknown }
}

interface Name {
  readonly type: string
  readonly name?: string
}

function declaredBy({ type, id, key, value }: Declaration): string | undefined {
  if (/^(?:FunctionDeclaration|ClassDeclaration|VariableDeclarator)$/.test(type)) return nameOf(id)
  if (type === 'MethodDefinition' && value?.body !== null) return nameOf(key)
  // Of the properties of an object, those that are functions.
  return type === 'Property' && value?.type.endsWith('FunctionExpression') ? nameOf(key) : undefined
}

function nameOf(node: Name | null | undefined): string | undefined {
  return node?.type === 'Identifier' || node?.type === 'PrivateIdentifier' ? node.name : undefined
}
