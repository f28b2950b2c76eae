import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig } from 'vite'
import { CHUNK_GROUPS } from './scripts/chunks.ts'

const gateway = process.env.TRUNKLINE_URL ?? 'http://127.0.0.1:8080'

export default defineConfig({
  base: '/console/',
  plugins: [react()],
  // Leads to the sources of the SDK, which is built only when it is published.
  resolve: { conditions: ['@trunkline/source', ...defaultClientConditions] },
  build: {
    // Files in `data:` URLs would need an exception in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      output: {
        // The bundler adds the names of all pages that share a file.
        chunkFileNames: ({ name }) => `assets/${name.split('~')[0]}-[hash].js`,
        codeSplitting: { groups: CHUNK_GROUPS },
      },
    },
  },
  // While the console is developed, `pnpm --filter @trunkline/console dev` serves it and forwards its requests to a gateway.
  server: { proxy: { '/graphql': gateway, '/api': gateway, '/files': gateway, '/readyz': gateway } },
})
