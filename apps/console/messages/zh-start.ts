import type { StartMessages } from './en.ts'
import agents from './zh/agents.json' with { type: 'json' }
import charts from './zh/charts.json' with { type: 'json' }
import common from './zh/common.json' with { type: 'json' }
import login from './zh/login.json' with { type: 'json' }
import overview from './zh/overview.json' with { type: 'json' }
import reasons from './zh/reasons.json' with { type: 'json' }

export const messages: StartMessages = {
  agents,
  charts,
  common,
  login,
  overview,
  reasons,
}
