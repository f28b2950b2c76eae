import { readFile } from 'node:fs/promises'
import {
  bindMigrationAwareSqlAdapterFactory,
  DriverAdapterError,
  type SqlDriverAdapter,
} from '@prisma/driver-adapter-utils'
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { schemaEngineFile } from '#core/base/shipped-files.ts'
import { readSchema } from './migration-files.ts'

/** Excludes no tables and enums from the engine. */
export const NO_FILTERS: bindings.SchemaFilter = { externalTables: [], externalEnums: [] }

/**
 * Opens Prisma's schema engine. It uses the WebAssembly build, because the binary would have to be downloaded. `connect` also
 * opens the shadow database.
 */
export async function openSchemaEngine(
  connect: () => Promise<SqlDriverAdapter>,
): Promise<bindings.SchemaEngine> {
  loaded ??= markRejectionHandled(loadBindings())
  await loaded
  const factory = {
    provider: 'postgres',
    adapterName: 'trunkline',
    connect,
    connectToShadowDb: connect,
  } as const
  return bindings.SchemaEngine.new(
    { datamodels: [['schema.prisma', await readSchema()]] },
    () => {},
    bindMigrationAwareSqlAdapterFactory(factory),
  )
}

/**
 * Makes an adapter execute scripts with `run`: pglite-prisma-adapter does not await them, and @prisma/adapter-pg splits them
 * at every semicolon.
 */
export function runScriptsWith(
  adapter: SqlDriverAdapter,
  run: (script: string) => Promise<unknown>,
): SqlDriverAdapter {
  return Object.assign(adapter, {
    async executeScript(script: string) {
      try {
        await run(script)
      } catch (error) {
        throw readableByEngine(error)
      }
    },
  })
}

let loaded: Promise<void> | undefined

/** TypeScript declares this only in its DOM library. */
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: WasmExports } }>
}

interface WasmExports {
  __wbindgen_start(): void
}

async function loadBindings(): Promise<void> {
  // The package's own loader imports the .wasm file as a module, for which Node requires a flag.
  const imports = { './schema_engine_bg.js': { ...bindings } }
  const { instance } = await WebAssembly.instantiate(await readFile(schemaEngineFile()), imports)
  bindings.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start()
}

/** Converts an error to the class that the engine can read; of any other error it reports only a number. */
function readableByEngine(error: unknown): DriverAdapterError {
  const { code, severity, message, detail, column, hint } = error as Partial<Record<string, string>>
  return new DriverAdapterError({
    kind: 'postgres',
    code: code ?? 'N/A',
    severity: severity ?? 'ERROR',
    message: message ?? String(error),
    detail,
    column,
    hint,
  })
}
