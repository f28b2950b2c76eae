import account from './en/account.json' with { type: 'json' }
import agents from './en/agents.json' with { type: 'json' }
import audit from './en/audit.json' with { type: 'json' }
import calls from './en/calls.json' with { type: 'json' }
import charts from './en/charts.json' with { type: 'json' }
import common from './en/common.json' with { type: 'json' }
import filters from './en/filters.json' with { type: 'json' }
import form from './en/form.json' with { type: 'json' }
import keys from './en/keys.json' with { type: 'json' }
import login from './en/login.json' with { type: 'json' }
import overview from './en/overview.json' with { type: 'json' }
import playground from './en/playground.json' with { type: 'json' }
import processes from './en/processes.json' with { type: 'json' }
import reasons from './en/reasons.json' with { type: 'json' }
import refusals from './en/refusals.json' with { type: 'json' }
import usage from './en/usage.json' with { type: 'json' }
import users from './en/users.json' with { type: 'json' }

/** Every English text, by page. The other languages have the same keys. */
export const messages = {
  account,
  agents,
  audit,
  calls,
  charts,
  common,
  filters,
  form,
  keys,
  login,
  overview,
  playground,
  processes,
  reasons,
  refusals,
  usage,
  users,
}

export type Messages = typeof messages
