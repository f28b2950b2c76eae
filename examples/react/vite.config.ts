import { defaultClientConditions, defineConfig } from 'vite'

const gateway = process.env.TRUNKLINE_URL ?? 'http://127.0.0.1:8080'

export default defineConfig({
  // Leads to the sources of the SDK in this repository; a page of your own does not need it.
  resolve: { conditions: ['@trunkline/source', ...defaultClientConditions] },
  // Serves the pages while they are developed, and forwards their requests to the gateway, so that no CORS is needed.
  server: { proxy: { '/graphql': gateway, '/api': gateway } },
})
