import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const SOURCES = 'apps/gateway/src'

/** Deeper folders are described by the README of a folder around them. */
const LISTED = ['*', '{apps,packages,tools}/*', 'apps/gateway/{src,test}', `${SOURCES}/{*,core/*,core/*/*}`]

/** These hold nothing but folders that are listed themselves. */
const CONTAINERS: ReadonlySet<string> = new Set(['apps', 'packages', 'tools'])

/** What is installed, built or generated. */
const NOT_OURS: ReadonlySet<string> = new Set(['node_modules', 'dist', 'generated', 'coverage'])

/**
 * Returns the generated part of CONTRIBUTING.md: every folder once, with the first sentence of its README.
 *
 * @throws Error that names all folders without a README
 */
export function folderReference(): Record<string, string> {
  const folders = listedFolders()
  const sentences = new Map(folders.map((folder) => [folder, sentenceOf(folder)]))
  const lacking = folders.filter((folder) => sentences.get(folder) === undefined)
  if (lacking.length > 0)
    throw new Error(
      `These folders need a README.md that begins with one sentence on what is in them: ${lacking.join(', ')}`,
    )
  const lines = folders.map((folder) => {
    const around = folders.filter((other) => folder.startsWith(`${other}/`))
    return `${'  '.repeat(around.length)}- \`${nameOf(folder)}\`: ${sentences.get(folder)}`
  })
  return { folders: lines.join('\n') }
}

function listedFolders(): readonly string[] {
  const folders = globSync(LISTED, { cwd: ROOT, exclude: isForeign, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => posix.relative(ROOT, join(parentPath, name)))
  return folders
    .filter((folder) => !isForeign({ name: posix.basename(folder) }) && !CONTAINERS.has(folder))
    .filter(hasFiles)
    .sort()
}

function isForeign({ name }: { readonly name: string }): boolean {
  return name.startsWith('.') || NOT_OURS.has(name)
}

/** Whether anything is in a folder; git leaves one behind whose files were moved, if something was installed there. */
function hasFiles(folder: string): boolean {
  return globSync(`${folder}/**`, { cwd: ROOT, exclude: isForeign, withFileTypes: true }).some((entry) =>
    entry.isFile(),
  )
}

/** Folders of the sources as imports and comments name them. */
function nameOf(folder: string): string {
  return folder.startsWith(`${SOURCES}/`) ? posix.relative(SOURCES, folder) : folder
}

function sentenceOf(folder: string): string | undefined {
  let readme: string
  try {
    readme = readFileSync(join(ROOT, folder, 'README.md'), 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
  const paragraph = readme.split(/\n{2,}/).find((text) => !text.startsWith('#')) ?? ''
  const text = paragraph.trim().replaceAll('\n', ' ')
  const sentence = /^.+?\.(?= |$)/.exec(text)?.[0] ?? text
  // Links lead on from the page that has the sentence.
  const moved = sentence.replaceAll(
    /\]\((?!\w+:)([^)]+)\)/g,
    (_, path: string) => `](${posix.join(folder, path)})`,
  )
  return moved === '' ? undefined : moved
}
