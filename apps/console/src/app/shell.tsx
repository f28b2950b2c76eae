import { Link, Outlet, useRouter, useRouterState } from '@tanstack/react-router'
import {
  Activity,
  Ban,
  Bot,
  ChartColumn,
  CircleUser,
  KeyRound,
  LayoutDashboard,
  ListChecks,
  Menu as MenuIcon,
  MessageSquareText,
  MessagesSquare,
  Server,
  Users,
} from 'lucide-react'
import { type ComponentType, useEffect, useState } from 'react'
import { useTranslations } from 'use-intl'
import { afterPage } from '../session/queries.ts'
import { useSession } from '../session/use-session.ts'
import { Waiting } from '../session/waiting.tsx'
import { IconButton } from '../ui/button.tsx'
import { loadPart } from '../ui/load-part.ts'
import { useErrorText } from '../ui/notice.tsx'
import { useToast } from '../ui/overlays/toasts.tsx'
import type { DrawerProps } from './drawer.tsx'
import { Logo } from './logo.tsx'
import { Preferences } from './preferences.tsx'
import { loadPalette, SearchField } from './search-field.tsx'
import { loadStay, SessionEnding } from './session-ending.tsx'
import styles from './shell.module.css'

/** The page itself is drawn by then, also where it is slow. */
const PRELOAD_AFTER_MS = 5_000

const loadDrawer = () => loadPart(() => import('./drawer.tsx'))

/** The frame around every page after the login: the way to the pages, the search and the account. */
export function Shell() {
  const t = useTranslations('common')
  const menu = useMenu()
  const [isOpen, setOpen] = useState(false)
  const [Drawer, setDrawer] = useState<ComponentType<DrawerProps>>()
  const router = useRouter()
  const toast = useToast()
  const describe = useErrorText()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes whenever another page is opened.
  useEffect(() => setOpen(false), [path])
  // The other pages, so that they open at once, also while the gateway is away or after it has been updated.
  useEffect(() => {
    const timer = setTimeout(async () => {
      await afterPage()
      // What fails here is loaded again when it is opened, and says so then.
      for (const route of Object.values(router.routesById)) router.loadRouteChunk(route)?.catch(() => {})
      loadDrawer().catch(() => {})
      loadPalette().catch(() => {})
      loadStay().catch(() => {})
    }, PRELOAD_AFTER_MS)
    return () => clearTimeout(timer)
  }, [router])
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#main">
        {t('skipToContent')}
      </a>
      <aside className={styles.sidebar}>
        <Brand />
        <Navigation />
        <Account />
      </aside>
      <header className={styles.top}>
        <IconButton
          className={styles.burger}
          label={t('menu')}
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          onClick={() => {
            setOpen(true)
            loadDrawer().then(
              ({ Drawer: loaded }) => setDrawer(() => loaded),
              (error: unknown) => {
                setOpen(false)
                toast(describe(error))
              },
            )
          }}
        >
          <MenuIcon aria-hidden />
        </IconButton>
        {Drawer !== undefined && (
          <Drawer isOpen={isOpen} onClose={() => setOpen(false)} brand={<Brand />}>
            <Navigation />
            <Account />
          </Drawer>
        )}
        <SearchField pages={[...menu, { to: '/account', icon: CircleUser, label: t('pages.account') }]} />
        <Preferences />
      </header>
      <main className={styles.main} id="main" tabIndex={-1}>
        <div className={styles.notices}>
          <SessionEnding />
          <Waiting />
        </div>
        <Outlet />
      </main>
    </div>
  )
}

function Brand() {
  return (
    <Link to="/" className={styles.brand}>
      <Logo />
      Trunkline
    </Link>
  )
}

/** The pages that the user may open. */
function useMenu() {
  const t = useTranslations('common.pages')
  const { role } = useSession()
  const items = [
    { to: '/', icon: LayoutDashboard, label: t('overview'), exact: true },
    { to: '/usage', icon: ChartColumn, label: t('usage') },
    { to: '/calls', icon: Activity, label: t('calls') },
    { to: '/conversations', icon: MessageSquareText, label: t('conversations') },
    { to: '/refusals', icon: Ban, label: t('refusals') },
    { to: '/keys', icon: KeyRound, label: t('keys') },
    { to: '/agents', icon: Bot, label: t('agents') },
    { to: '/playground', icon: MessagesSquare, label: t('playground') },
    ...(role === 'admin'
      ? [
          { to: '/users', icon: Users, label: t('users') },
          { to: '/processes', icon: Server, label: t('processes') },
          { to: '/audit', icon: ListChecks, label: t('audit') },
        ]
      : []),
  ]
  return items
}

function Navigation() {
  const t = useTranslations('common.pages')
  const items = useMenu()
  return (
    <nav className={styles.nav} aria-label={t('label')}>
      {items.map(({ to, icon: Icon, label, exact }) => (
        <Link
          key={to}
          to={to}
          className={styles.item}
          activeOptions={{ exact: exact === true, includeSearch: false }}
        >
          <Icon aria-hidden />
          {label}
        </Link>
      ))}
    </nav>
  )
}

function Account() {
  const t = useTranslations('common')
  const { username, role } = useSession()
  return (
    <Link to="/account" className={styles.account} title={t('pages.account')}>
      <CircleUser aria-hidden />
      <span className={styles.who}>
        <span className={styles.name}>{username}</span>
        <span className={styles.role}>{t(`roles.${role}`)}</span>
      </span>
    </Link>
  )
}
