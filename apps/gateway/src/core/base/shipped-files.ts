/**
 * What the gateway reads at run time beside its code, and where it lies: among the sources, relative to this file, and in the
 * published package, relative to the one folder of `dist`. A build of the package copies or compiles the first to the second.
 */
export const SHIPPED_FILES = {
  /** One folder for each migration. */
  migrations: { source: '../../../../../prisma/migrations/', built: 'migrations/' },
  schema: { source: '../../../../../prisma/schema.prisma', built: 'schema.prisma' },
  /** The files of the console with their compressed copies, and the documents that it sends. */
  console: { source: '../../../../console/dist/current/', built: 'console/' },
  favicon: { source: '../../rest/favicon.ico', built: 'favicon.ico' },
  /** What the page around GraphiQL loads; GraphiQL itself is a package. */
  graphiql: { source: '../../graphql/graphiql/browser/', built: 'graphiql/' },
  /** The module that runs in the thread of the embedded database. */
  engineWorker: { source: '../database/embedded/engine-worker.ts', built: 'engine-worker.js' },
} as const satisfies Record<string, { readonly source: string; readonly built: string }>

/** The sources run as they are, so whatever is not TypeScript has been built. */
export const isBuilt = !import.meta.url.endsWith('.ts')

/** Returns where a file or folder of the gateway lies. */
export function shippedFile(name: keyof typeof SHIPPED_FILES): URL {
  const { source, built } = SHIPPED_FILES[name]
  return new URL(isBuilt ? built : source, import.meta.url)
}

/** Returns where the schema engine lies, which is a file of a package that is always installed beside the gateway. */
export function schemaEngineFile(): URL {
  return new URL('schema_engine_bg.wasm', import.meta.resolve('@prisma/schema-engine-wasm/schema_engine_bg'))
}
