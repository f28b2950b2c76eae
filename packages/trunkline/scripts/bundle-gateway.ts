import { rolldown } from 'rolldown'

interface Bundling {
  /** The paths of the modules to start with, by the names of their files in `dir`. */
  readonly entries: Readonly<Record<string, string>>
  readonly dir: string
  /** The packages that stay outside, because they load files beside themselves: WebAssembly, or a library of the platform. */
  readonly outside: readonly string[]
  /** The commit that is built; empty where it is not known. */
  readonly commit: string
}

/**
 * Bundles the gateway, and returns the paths of all modules that went into it. All files lie flat in `dir`, so that what a
 * module reads beside itself is found by every one of them.
 */
export async function bundleGateway({ entries, dir, outside, commit }: Bundling): Promise<string[]> {
  const bundle = await rolldown({
    input: entries,
    platform: 'node',
    external: outside.map((name) => new RegExp(`^${name}(?:/|$)`)),
    // No `import` here: it would give ES modules to packages that `require` them. Rolldown adds the one that fits by itself.
    resolve: { conditionNames: ['@trunkline/source', 'node'] },
    transform: { define: { 'process.env.TRUNKLINE_COMMIT': JSON.stringify(commit) } },
    logLevel: 'warn',
    checks: { eval: false },
  })
  const { output } = await bundle.write({
    dir,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  })
  await bundle.close()
  return output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
}
