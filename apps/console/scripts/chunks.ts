import { fileURLToPath } from 'node:url'

/** The part of the bundler's module graph that is used here. `importedIds` has static imports only, no dynamic ones. */
interface Modules {
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null
}

/** What the first page after the login needs. Its charts are drawn by a library that is loaded meanwhile. */
const START = ['main.tsx', 'pages/overview/overview-page.tsx'].map((path) =>
  fileURLToPath(new URL(`../src/${path}`, import.meta.url)),
)

/**
 * How modules are grouped into files. By default every set of pages that shares a module has a file of its own, so that a
 * start asks for dozens of files of less than 1 kB. Here the start has two files, of which that of the libraries stays in the
 * browser's cache when the console changes. What several other pages share is in files of about this size at least.
 */
export const CHUNK_GROUPS = [
  { name: startChunkOf(), debugName: 'start', priority: 1 },
  { name: 'shared', minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 12_000 },
]

/** Names the file of a module that is needed at the start, and none for others. */
function startChunkOf(): (id: string, modules: Modules) => string | null {
  let needed: ReadonlySet<string> | undefined
  return (id, modules) => {
    needed ??= importedFrom(START, modules)
    if (!needed.has(id)) return null
    return id.includes('/node_modules/') ? 'libraries' : 'start'
  }
}

function importedFrom(roots: readonly string[], modules: Modules): ReadonlySet<string> {
  const found = new Set(roots)
  // A set that grows while it is walked is walked to its new end.
  for (const id of found)
    for (const imported of modules.getModuleInfo(id)?.importedIds ?? []) found.add(imported)
  return found
}
