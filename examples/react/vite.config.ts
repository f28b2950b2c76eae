import { defineConfig } from 'vite'

const gateway = process.env.GATEWAY_URL ?? 'http://localhost:8080'

export default defineConfig({
  // Serves the pages while they are developed, and forwards their requests to the gateway, so that no CORS is needed.
  server: { proxy: { '/graphql': gateway } },
})
