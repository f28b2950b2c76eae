import {
  type AnyValidator,
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

/** The app that a new chat asks, or the chat that goes on. */
const chatSearch = (search: ChatSearch & SearchSchemaInput) =>
  textsIn({ ...search }, ['app', 'chat', 'user']) as ChatSearch

interface ChatSearch {
  readonly app?: string
  readonly chat?: string
  readonly user?: string
}

/**
 * A page behind the login, which is loaded when it is opened, with the messages of all such pages.
 *
 * @param read - reads its address
 */
function page<
  const Path extends string,
  Part extends Record<string, unknown>,
  Read extends AnyValidator = undefined,
>(path: Path, load: () => Promise<Part>, name: keyof Part & string, read?: Read) {
  const component = lazyRouteComponent(async () => {
    const [part] = await Promise.all([loadPart(load), texts.loadPages()])
    return part as Record<string, never>
  }, name)
  return createRoute({ getParentRoute: () => shell, path, component, validateSearch: read as Read })
}

const pages = [
  page('/keys', () => import('../pages/keys/keys-page.tsx'), 'KeysPage', only(keysSearch)),
  page('/keys/$id', () => import('../pages/keys/key-page.tsx'), 'KeyPage'),
  page('/calls', () => import('../pages/calls/calls-page.tsx'), 'CallsPage', only(callsSearch)),
  page('/calls/$id', () => import('../pages/calls/call-page.tsx'), 'CallPage'),
  page(
    '/conversations',
    () => import('../pages/conversations/conversations-page.tsx'),
    'ConversationsPage',
    only(conversationsSearch),
  ),
  page(
    '/conversations/$id',
    () => import('../pages/conversations/conversation-page.tsx'),
    'ConversationPage',
  ),
  createRoute({
    getParentRoute: () => shell,
    path: '/',
    validateSearch: only((search: Partial<OverviewSearch> & SearchSchemaInput) => overviewSearch(search)),
    component: lazyRouteComponent(
      () => loadPart(() => import('../pages/overview/overview-page.tsx')),
      'OverviewPage',
    ),
  }),
  page(
    '/usage',
    () => import('../pages/usage/usage-page.tsx'),
    'UsagePage',
    only((search: Partial<UsageSearch> & SearchSchemaInput) => usageSearch(search)),
  ),
  page('/account', () => import('../pages/account/account-page.tsx'), 'AccountPage'),
  page(
    '/agents',
    () => import('../pages/agents/agents-page.tsx'),
    'AgentsPage',
    only((search: { readonly id?: string } & SearchSchemaInput) => textsIn(search, ['id'])),
  ),
  // Where the playground of an agent was before it had a place in the menu.
  createRoute({
    getParentRoute: () => shell,
    path: '/agents/$id',
    validateSearch: only(chatSearch),
    beforeLoad({ params, search }) {
      throw redirect({ to: '/playground/$id', params, search, replace: true })
    },
  }),
  page('/playground', () => import('../pages/playground/playground-page.tsx'), 'StartPage'),
  page(
    '/playground/$id',
    () => import('../pages/playground/playground-page.tsx'),
    'PlaygroundPage',
    only(chatSearch),
  ),
  page('/users', () => import('../pages/users/users-page.tsx'), 'UsersPage', only(usersSearch)),
  page('/users/$id', () => import('../pages/users/user/user-page.tsx'), 'UserPage'),
  page(
    '/refusals',
    () => import('../pages/refusals/refusals-page.tsx'),
    'RefusalsPage',
    only(refusalsSearch),
  ),
  page(
    '/refusals/$requestId',
    () => import('../pages/refusals/refusal-page.tsx'),
    'RefusalPage',
    only(({ id }: Record<string, unknown>): { id?: string } => (typeof id === 'string' ? { id } : {})),
  ),
  page(
    '/processes',
    () => import('../pages/processes/processes-page.tsx'),
    'ProcessesPage',
    only(processesSearch),
  ),
  page('/audit', () => import('../pages/audit/audit-page.tsx'), 'AuditPage', only(auditSearch)),
  page('/audit/$n', () => import('../pages/audit/event-page.tsx'), 'EventPage'),
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
