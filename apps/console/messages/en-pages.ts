import account from './en/account.json' with { type: 'json' }
import audit from './en/audit.json' with { type: 'json' }
import calls from './en/calls.json' with { type: 'json' }
import conversations from './en/conversations.json' with { type: 'json' }
import filters from './en/filters.json' with { type: 'json' }
import form from './en/form.json' with { type: 'json' }
import health from './en/health.json' with { type: 'json' }
import keys from './en/keys.json' with { type: 'json' }
import lists from './en/lists.json' with { type: 'json' }
import playground from './en/playground.json' with { type: 'json' }
import processes from './en/processes.json' with { type: 'json' }
import refusals from './en/refusals.json' with { type: 'json' }
import search from './en/search.json' with { type: 'json' }
import usage from './en/usage.json' with { type: 'json' }
import users from './en/users.json' with { type: 'json' }

/** The English texts of the other pages, which are loaded with the first of them. */
export const messages = {
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
