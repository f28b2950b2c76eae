import { defineConfig } from 'vite'
import * as keptRoute from './kept-route.ts'
import * as plainRoute from './plain-route.ts'
import * as route from './route.ts'
import { serveRoute } from './serve-route.ts'

export default defineConfig({
  plugins: [
    serveRoute('/api/chat', route),
    serveRoute('/api/kept-chat', keptRoute),
    serveRoute('/api/plain-chat', plainRoute),
  ],
})
