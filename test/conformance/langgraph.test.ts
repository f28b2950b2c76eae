import { startLangGraphAgent } from '../agents/langgraph/agent.ts'
import { describeConformance } from './describe-conformance.ts'
import { dialectsIn } from './dialects-in.ts'

// A process, because the guarantees hold from the configuration file to the ledger, which is read after the gateway has stopped.

const folders = new URL('../../apps/gateway/src/core/agents/platforms/', import.meta.url)

describeConformance({
  folders,
  dialects: (await dialectsIn(folders)).filter(({ platform }) => platform === 'langgraph'),
  async startEmulators() {
    const { agent, close } = await startLangGraphAgent({ delayMs: 0 })
    return { agents: { langgraph: agent }, close }
  },
})
