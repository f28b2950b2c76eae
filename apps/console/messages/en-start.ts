import agents from './en/agents.json' with { type: 'json' }
import charts from './en/charts.json' with { type: 'json' }
import common from './en/common.json' with { type: 'json' }
import login from './en/login.json' with { type: 'json' }
import overview from './en/overview.json' with { type: 'json' }
import reasons from './en/reasons.json' with { type: 'json' }

/** The English texts of the login, the overview and what is around every page. */
export const messages = {
  agents,
  charts,
  common,
  login,
  overview,
  reasons,
}
