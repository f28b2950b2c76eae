import type { PageMessages } from './en.ts'
import account from './zh/account.json' with { type: 'json' }
import audit from './zh/audit.json' with { type: 'json' }
import calls from './zh/calls.json' with { type: 'json' }
import conversations from './zh/conversations.json' with { type: 'json' }
import filters from './zh/filters.json' with { type: 'json' }
import form from './zh/form.json' with { type: 'json' }
import health from './zh/health.json' with { type: 'json' }
import keys from './zh/keys.json' with { type: 'json' }
import lists from './zh/lists.json' with { type: 'json' }
import playground from './zh/playground.json' with { type: 'json' }
import processes from './zh/processes.json' with { type: 'json' }
import refusals from './zh/refusals.json' with { type: 'json' }
import search from './zh/search.json' with { type: 'json' }
import usage from './zh/usage.json' with { type: 'json' }
import users from './zh/users.json' with { type: 'json' }

export const messages: PageMessages = {
  account,
  audit,
  calls,
  conversations,
  filters,
  lists,
  form,
  health,
  keys,
  playground,
  processes,
  refusals,
  search,
  usage,
  users,
}
