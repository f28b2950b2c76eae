import { defineConfig } from 'vite'
import { POST } from './route.ts'
import { serveRoute } from './serve-route.ts'

export default defineConfig({ plugins: [serveRoute('/api/chat', POST)] })
