import { Link } from '@tanstack/react-router'
import { Bot, CircleUser, KeyRound, MessagesSquare, Search } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl'
import { KeyBadge } from '../pages/keys/state/key-badge.tsx'
import type { Entry } from './entries.ts'
import styles from './palette.module.css'
import { targetOf } from './target-of.ts'

interface EntryOptionProps {
  readonly entry: Entry
  readonly isMarked: boolean
  onOpen(entry: Entry): void
  onLeave(): void
}

/** One entry. It is a link where its page is known, so that it can be opened in another tab as well. */
export function EntryOption({ entry, isMarked, onOpen, onLeave }: EntryOptionProps) {
  const option = {
    id: entry.id,
    className: styles.option,
    role: 'option',
    'aria-selected': isMarked,
    tabIndex: -1,
  } as const
  const words = <Words entry={entry} />
  if (entry.kind !== 'request')
    return (
      <Link {...targetOf(entry)} {...option} onClick={onLeave}>
        {words}
      </Link>
    )
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, which has the focus.
    // biome-ignore lint/a11y/noStaticElementInteractions: its role is among the properties.
    <div {...option} onClick={() => onOpen(entry)}>
      {words}
    </div>
  )
}

const ROLES = { ADMIN: 'admin', PREMIUM: 'premium', USER: 'user' } as const

function Words({ entry }: { readonly entry: Entry }) {
  const t = useTranslations('search')
  const agents = useTranslations('agents')
  const roles = useTranslations('common.roles')
  switch (entry.kind) {
    case 'page':
      return <Line icon={<entry.page.icon aria-hidden />} name={entry.page.label} />
    case 'agent':
      return entry.isChat ? (
        <Line icon={<MessagesSquare aria-hidden />} name={agents('askName', { name: entry.agent.name })} />
      ) : (
        <Line icon={<Bot aria-hidden />} name={entry.agent.name} detail={entry.agent.id} />
      )
    case 'key': {
      const { name, keyPrefix, owner } = entry.apiKey
      const detail = [`${keyPrefix}…`, owner?.username].filter(Boolean).join(' · ')
      return (
        <Line icon={<KeyRound aria-hidden />} name={name} detail={detail}>
          <KeyBadge apiKey={entry.apiKey} />
        </Line>
      )
    }
    case 'user':
      return (
        <Line
          icon={<CircleUser aria-hidden />}
          name={entry.user.username}
          detail={roles(ROLES[entry.user.role])}
        />
      )
    case 'request':
      return <Line icon={<Search aria-hidden />} name={t('byId', { id: entry.text })} />
  }
}

interface LineProps {
  readonly icon: ReactNode
  readonly name: string
  readonly detail?: string
  readonly children?: ReactNode
}

function Line({ icon, name, detail, children }: LineProps) {
  return (
    <>
      {icon}
      <span className={styles.name}>{name}</span>
      {detail !== undefined && <span className={styles.detail}>{detail}</span>}
      {children}
    </>
  )
}
