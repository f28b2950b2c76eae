import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  type SearchSchemaInput,
} from '@tanstack/react-router'
import { textsIn } from '../filters/address.ts'
import { addressWithoutKeySecrets, withoutKeySecret } from '../find/key-secret.ts'
import { auditSearch } from '../pages/audit/audit-search.ts'
import { callsSearch } from '../pages/calls/calls-search.ts'
import { conversationsSearch } from '../pages/conversations/conversations-search.ts'
import { keysSearch } from '../pages/keys/keys-search.ts'
import { LoginPage } from '../pages/login/login-page.tsx'
import { type OverviewSearch, overviewSearch } from '../pages/overview/overview-range.ts'
import { processesSearch } from '../pages/processes/processes-search.ts'
import { refusalsSearch } from '../pages/refusals/refusals-search.ts'
import { type UsageSearch, usageSearch } from '../pages/usage/usage-search.ts'
import { usersSearch } from '../pages/users/users-search.ts'
import { sessions } from '../session/gateway.ts'
import { loadPart } from '../ui/load-part.ts'
import { Fallback } from './fallback.tsx'
import { Shell } from './shell.tsx'
import { texts } from './texts.ts'

/**
 * The router keeps parameters that a page has not read beside those that it has read, so they are removed here. The secret of an
 * API key that was pasted into a search is removed as well, because addresses are kept in histories and logs.
 */
function only<Read extends (search: never) => object>(read: Read): Read {
  const alone = (search: Record<string, unknown>) => ({
    ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])),
    ...read(withoutSecrets(search) as never),
  })
  return alone as unknown as Read
}

function withoutSecrets(search: Record<string, unknown>): Record<string, unknown> {
  const values = Object.entries(search).map(([name, value]) => [
    name,
    typeof value === 'string' ? withoutKeySecret(value) : value,
  ])
  return Object.fromEntries(values)
}

const root = createRootRoute({ component: Outlet })

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  component: LoginPage,
  validateSearch: only(({ next }: Record<string, unknown>): { next?: string } =>
    // A path of the console alone: an address elsewhere could show a page that looks like it.
    typeof next === 'string' && /^\/(?![/\\])/.test(next) ? { next } : {},
  ),
  beforeLoad({ search }) {
    if (sessions.current !== undefined) throw redirect({ to: search.next ?? '/', replace: true })
  },
})

/** All pages that need a login; without one they lead there and back. */
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  beforeLoad({ location }) {
    if (sessions.current !== undefined) return
    // After a logout the login page does not lead back to the page before.
    const isStart = location.href === '/' || sessions.ended === 'loggedOut'
    throw redirect({ to: '/login', search: isStart ? {} : { next: location.href }, replace: true })
  },
})

/** A page that is loaded when it is opened, with the messages of all such pages. */
function page<Part extends Record<string, unknown>, Name extends keyof Part & string>(
  load: () => Promise<Part>,
  name: Name,
) {
  return lazyRouteComponent(async () => {
    const [part] = await Promise.all([loadPart(load), texts.loadPages()])
    return part as Record<Name, never>
  }, name)
}

/** The app that a new chat asks, or the chat that goes on. */
const chatSearch = (search: ChatSearch & SearchSchemaInput) =>
  textsIn({ ...search }, ['app', 'chat', 'user']) as ChatSearch

interface ChatSearch {
  readonly app?: string
  readonly chat?: string
  readonly user?: string
}

const pages = [
  createRoute({
    getParentRoute: () => shell,
    path: '/keys',
    validateSearch: only(keysSearch),
    component: page(() => import('../pages/keys/keys-page.tsx'), 'KeysPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/keys/$id',
    component: page(() => import('../pages/keys/key-page.tsx'), 'KeyPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/calls',
    validateSearch: only(callsSearch),
    component: page(() => import('../pages/calls/calls-page.tsx'), 'CallsPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/calls/$id',
    component: page(() => import('../pages/calls/call-page.tsx'), 'CallPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/conversations',
    validateSearch: only(conversationsSearch),
    component: page(() => import('../pages/conversations/conversations-page.tsx'), 'ConversationsPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/conversations/$id',
    component: page(() => import('../pages/conversations/conversation-page.tsx'), 'ConversationPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/',
    validateSearch: only((search: Partial<OverviewSearch> & SearchSchemaInput) => overviewSearch(search)),
    component: lazyRouteComponent(
      () => loadPart(() => import('../pages/overview/overview-page.tsx')),
      'OverviewPage',
    ),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/usage',
    validateSearch: only((search: Partial<UsageSearch> & SearchSchemaInput) => usageSearch(search)),
    component: page(() => import('../pages/usage/usage-page.tsx'), 'UsagePage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/account',
    component: page(() => import('../pages/account/account-page.tsx'), 'AccountPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/agents',
    // The agent whose row is open.
    validateSearch: only((search: { readonly id?: string } & SearchSchemaInput) => textsIn(search, ['id'])),
    component: page(() => import('../pages/agents/agents-page.tsx'), 'AgentsPage'),
  }),
  // Where the playground of an agent was before it had a place in the menu.
  createRoute({
    getParentRoute: () => shell,
    path: '/agents/$id',
    validateSearch: only(chatSearch),
    beforeLoad({ params, search }) {
      throw redirect({ to: '/playground/$id', params, search, replace: true })
    },
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/playground',
    component: page(() => import('../pages/playground/playground-page.tsx'), 'StartPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/playground/$id',
    validateSearch: only(chatSearch),
    component: page(() => import('../pages/playground/playground-page.tsx'), 'PlaygroundPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/users',
    validateSearch: only(usersSearch),
    component: page(() => import('../pages/users/users-page.tsx'), 'UsersPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/users/$id',
    component: page(() => import('../pages/users/user/user-page.tsx'), 'UserPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/refusals',
    validateSearch: only(refusalsSearch),
    component: page(() => import('../pages/refusals/refusals-page.tsx'), 'RefusalsPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/refusals/$requestId',
    validateSearch: only(({ id }: Record<string, unknown>): { id?: string } =>
      typeof id === 'string' ? { id } : {},
    ),
    component: page(() => import('../pages/refusals/refusal-page.tsx'), 'RefusalPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/processes',
    validateSearch: only(processesSearch),
    component: page(() => import('../pages/processes/processes-page.tsx'), 'ProcessesPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/audit',
    validateSearch: only(auditSearch),
    component: page(() => import('../pages/audit/audit-page.tsx'), 'AuditPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/audit/$n',
    component: page(() => import('../pages/audit/event-page.tsx'), 'EventPage'),
  }),
] as const

// A page requests what its path names, and addresses stay in the history, so a secret is removed first.
const href = addressWithoutKeySecrets(location.href)
if (href !== location.href) history.replaceState(history.state, '', href)

export const router = createRouter({
  routeTree: root.addChildren([login, shell.addChildren(pages)]),
  basepath: '/console',
  defaultPreload: 'intent',
  scrollRestoration: false,
  defaultErrorComponent: ({ error, reset }) => <Fallback error={error} retry={reset} />,
  defaultNotFoundComponent: () => <Fallback />,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
