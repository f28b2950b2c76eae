import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const namesByFile = new Map<string, readonly string[]>()

/** What a source file imports at run time, as it names it. `file` is a path from the root of the repository. */
export function importedNames(file: string): readonly string[] {
  const known = namesByFile.get(file)
  if (known !== undefined) return known
  const text = readFileSync(join(ROOT, file), 'utf8')
  const imports = text.matchAll(/^(?:import|export) (?!type )[^']*'([^']+)'/gm)
  const names = Array.from(imports, ([, name = '']) => name)
  namesByFile.set(file, names)
  return names
}

/** A file of `test/` and the files of `test/` that it imports, also through others of them. */
export function withImportedFiles(file: string): ReadonlySet<string> {
  const found = new Set([file])
  for (const each of found) {
    for (const name of importedNames(each)) {
      const path = name.startsWith('.') ? join(dirname(each), name) : ''
      if (path.startsWith('test/') && path.endsWith('.ts')) found.add(path)
    }
  }
  return found
}
