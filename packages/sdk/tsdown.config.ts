import { dirname } from 'node:path'
import { defineConfig } from 'tsdown'

export default defineConfig({
  entry: ['src/index.ts', 'src/chat.ts', 'src/graphql.ts'],
  format: ['esm', 'cjs'],
  platform: 'neutral',
  target: 'es2022',
  dts: true,
  // The types name `Symbol.asyncDispose`, which a project has only by this library or by `esnext`.
  banner: { dts: '/// <reference lib="esnext.disposable" />' },
  // For generators of GraphQL code, which read it from the folder of the package.
  copy: ({ outDir }) => ({ from: '../../schema.graphql', to: dirname(outDir) }),
  report: false,
})
