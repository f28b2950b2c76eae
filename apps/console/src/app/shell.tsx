import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import {
  Activity,
  ChartColumn,
  CircleUser,
  KeyRound,
  LayoutDashboard,
  Menu as MenuIcon,
  MessagesSquare,
  Users,
} from 'lucide-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import { useTranslations } from 'use-intl'
import { useSession } from '../session/use-session.ts'
import { IconButton } from '../ui/button.tsx'
import { CallSearch } from './call-search.tsx'
import { Logo } from './logo.tsx'
import { Preferences } from './preferences.tsx'
import styles from './shell.module.css'

const Drawer = lazy(async () => ({ default: (await import('./drawer.tsx')).Drawer }))

/** The frame around every page after the login: the way to the pages, the search and the account. */
export function Shell() {
  const t = useTranslations('common')
  const [isOpen, setOpen] = useState(false)
  const [isWanted, setWanted] = useState(false)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes whenever another page is opened.
  useEffect(() => setOpen(false), [path])
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
            setWanted(true)
            setOpen(true)
          }}
        >
          <MenuIcon aria-hidden />
        </IconButton>
        {isWanted && (
          <Suspense>
            <Drawer isOpen={isOpen} onClose={() => setOpen(false)} brand={<Brand />}>
              <Navigation />
              <Account />
            </Drawer>
          </Suspense>
        )}
        <CallSearch />
        <Preferences />
      </header>
      <main className={styles.main} id="main" tabIndex={-1}>
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

function Navigation() {
  const t = useTranslations('common.pages')
  const { role } = useSession()
  const items = [
    { to: '/', icon: LayoutDashboard, label: t('overview'), exact: true },
    { to: '/usage', icon: ChartColumn, label: t('usage') },
    { to: '/calls', icon: Activity, label: t('calls') },
    { to: '/keys', icon: KeyRound, label: t('keys') },
    { to: '/agents', icon: MessagesSquare, label: t('agents') },
    ...(role === 'admin' ? [{ to: '/users', icon: Users, label: t('users') }] : []),
  ]
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
