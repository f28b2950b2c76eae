import { defineConfig } from 'tsdown'

export default defineConfig({
  // The command awaits at its top level, which CommonJS cannot, and nobody imports it.
  format: {
    esm: { entry: { index: 'src/index.ts', main: 'src/main.ts' } },
    cjs: { entry: { index: 'src/index.ts' } },
  },
  platform: 'node',
  fixedExtension: false,
  target: 'node20',
  dts: true,
  report: false,
})
