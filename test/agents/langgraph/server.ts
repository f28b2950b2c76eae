import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { startServer } from '@langchain/langgraph-api/server'

/* LangGraph's own server, in a process of its own. Its state is in the folder where it is started. */

const graph = `${join(import.meta.dirname, 'graph.ts')}:graph`
const approving = `${join(import.meta.dirname, 'approving.ts')}:graph`
const { host } = await startServer({
  port: 0,
  host: '127.0.0.1',
  // An idle worker looks for a run after up to a second, so that ten together find it soon.
  nWorkers: 10,
  cwd: process.cwd(),
  graphs: { agent: graph, second: graph, approving },
  auth: { path: `${join(import.meta.dirname, 'auth.ts')}:auth`, disable_studio_auth: true },
})
process.send?.({ origin: `http://${host}` })
// Whoever has started it is gone, and cannot remove the folder.
process.once('disconnect', () => {
  rmSync(process.cwd(), { recursive: true, force: true })
  process.exit()
})
