/// <reference lib="dom" />

import { Trunkline, TrunklineError } from '@trunkline/sdk'
import { withGraphQL } from '@trunkline/sdk/graphql'
import { CallsByAgent } from '../documents.ts'

// The development server forwards requests to the gateway. The client keeps the token in the memory of the page alone:
// reloading it logs out.
const client = new Trunkline({ baseURL: location.origin })
const gql = withGraphQL(client)

const login = find<HTMLFormElement>('#login')
const usage = find('#usage')
const month = find<HTMLInputElement>('#month')
const bars = find('#bars')
const message = find('#message')

month.value = lastMonth()
month.addEventListener('change', () => run(showUsage))
login.addEventListener('submit', (event) => {
  event.preventDefault()
  run(async () => {
    const form = new FormData(login)
    await client.login({
      username: String(form.get('username')),
      password: String(form.get('password')),
    })
    login.reset()
    showLogin(false)
    await showUsage()
  })
})

async function showUsage(): Promise<void> {
  const [from, to] = boundsOf(month.value)
  const { usage: report } = await gql.query(CallsByAgent, { from, to })
  const groups = report?.groups ?? []
  const most = Math.max(...groups.map(({ totals }) => totals.calls))
  bars.replaceChildren(
    ...groups.map(({ agentId, totals }) => {
      const row = document.createElement('tr')
      const bar = document.createElement('meter')
      bar.max = most
      bar.value = totals.calls
      // Uploads may be without an agent.
      row.insertCell().textContent = agentId || '(none)'
      row.insertCell().textContent = totals.calls.toLocaleString()
      row.insertCell().append(bar)
      return row
    }),
  )
  message.textContent = groups.length === 0 ? 'There were no calls in this month.' : ''
}

/** Runs an action of the user and shows why it failed. */
async function run(action: () => Promise<void>): Promise<void> {
  message.textContent = 'Loading …'
  try {
    await action()
  } catch (error) {
    const isKnown = error instanceof TrunklineError
    if (isKnown && error.status === 401) showLogin(true)
    message.textContent = (isKnown && error.detail) || String(error)
  }
}

function showLogin(isShown: boolean): void {
  login.hidden = !isShown
  usage.hidden = isShown
}

/** The month before this one in UTC, such as `2026-10`. */
function lastMonth(): string {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)).toISOString().slice(0, 7)
}

/** The first days of a month and of the next. */
function boundsOf(text: string): [from: string, to: string] {
  const [year = 0, number = 1] = text.split('-').map(Number)
  return [`${text}-01`, new Date(Date.UTC(year, number)).toISOString()]
}

function find<Found extends HTMLElement>(selector: string): Found {
  const found = document.querySelector<Found>(selector)
  if (found === null) throw new Error(`the page has no ${selector}`)
  return found
}
