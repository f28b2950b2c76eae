import { defineConfig } from 'tsdown'

export default defineConfig({
  entry: ['src/index.ts', 'src/chat.ts', 'src/graphql.ts'],
  format: ['esm', 'cjs'],
  platform: 'neutral',
  target: 'es2022',
  dts: true,
  report: false,
})
