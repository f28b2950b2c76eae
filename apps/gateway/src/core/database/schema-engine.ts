import { readFile } from 'node:fs/promises'
import {
  bindMigrationAwareSqlAdapterFactory,
  DriverAdapterError,
  type SqlDriverAdapter,
} from '@prisma/driver-adapter-utils'
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg'
import { handled } from '#core/handled.ts'
import { readSchema } from './migration-files.ts'

/** The engine leaves nothing out of account. */
export const NO_FILTERS: bindings.SchemaFilter = { externalTables: [], externalEnums: [] }

/** Prisma's own schema engine as WebAssembly; its binary would have to be downloaded. `connect` serves for the shadow database too. */
export async function openSchemaEngine(
  connect: () => Promise<SqlDriverAdapter>,
): Promise<bindings.SchemaEngine> {
  loaded ??= handled(loadBindings())
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

/** Lets `run` execute scripts: pglite-prisma-adapter does not await them, and @prisma/adapter-pg cuts them at every semicolon. */
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

/** TypeScript declares it for browsers only. */
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: WasmExports } }>
}

interface WasmExports {
  __wbindgen_start(): void
}

async function loadBindings(): Promise<void> {
  // The package's own loader imports the .wasm file, for which Node wants a flag.
  const file = new URL(
    'schema_engine_bg.wasm',
    import.meta.resolve('@prisma/schema-engine-wasm/schema_engine_bg'),
  )
  const imports = { './schema_engine_bg.js': { ...bindings } }
  const { instance } = await WebAssembly.instantiate(await readFile(file), imports)
  bindings.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start()
}

/** Of any other error the engine shows only a number. */
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
