import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl'
import { useAgentChoices } from '../../choose/use-choices.ts'
import { useFormats } from '../../format/use-formats.ts'
import { AuditEventsDocument } from '../../generated/graphql.ts'
import { RecordLink } from '../../lists/record-link.tsx'
import { graphqlQuery } from '../../session/queries.ts'
import { useSession } from '../../session/use-session.ts'
import { Card } from '../../ui/card.tsx'
import { Facts } from '../../ui/facts.tsx'
import { useWords } from '../audit/words.ts'
import { type KeyDetails, useLimits } from './key-limits.tsx'
import styles from './keys.module.css'
import { selectableAgents } from './selectable-agents.ts'
import { ExpiryBadge } from './state/expiry-badge.tsx'
import { KeyBadge } from './state/key-badge.tsx'

/** What a key may do and what was last done to it, before what else is written in its record. */
export function KeyFacts({ apiKey }: { readonly apiKey: KeyDetails }) {
  const t = useTranslations('keys')
  const formats = useFormats()
  const agents = useAgentNames(apiKey.allowedAgents)
  const nameOf = useUserName()
  const limits = useLimits(apiKey)
  const { role } = useSession()
  return (
    <Card title={t('key.about')} aside={<KeyBadge apiKey={apiKey} />}>
      <Facts
        facts={[
          ...limits,
          [t('key.lastChange'), role === 'admin' && <LastChange key="change" id={apiKey.id} />],
          [t('key.prefix'), <code key="prefix">{`${apiKey.keyPrefix}…`}</code>],
          [t('permissions'), apiKey.permissions.map((name) => t(`permission.${lower(name)}`)).join(', ')],
          [t('form.agents'), agents],
          [t('form.addresses'), apiKey.allowedAddresses?.join(', ')],
          [t('owner'), nameOf(apiKey.ownerId, apiKey.owner?.username)],
          [t('key.creator'), nameOf(apiKey.createdById, apiKey.createdBy?.username)],
          [t('key.createdAt'), formats.moment(apiKey.createdAt)],
          [
            t('expires'),
            <span key="expires" className={styles.expiry}>
              {formats.moment(apiKey.expiresAt)}
              <ExpiryBadge apiKey={apiKey} />
            </span>,
          ],
          ...(['rotatedAt', 'pausedAt', 'revokedAt'] as const).map(
            (name) => [t(name), apiKey[name] && formats.moment(apiKey[name])] as const,
          ),
        ]}
      />
    </Card>
  )
}

function lower<Word extends string>(word: Word): Lowercase<Word> {
  return word.toLowerCase() as Lowercase<Word>
}

function useAgentNames(allowed: readonly string[] | null): string {
  const t = useTranslations('keys')
  const agents = useAgentChoices()
  if (allowed === null) return t('key.allAgents')
  const names = selectableAgents(agents, allowed).flatMap(({ entry, name, apps }) => [
    ...(allowed.includes(entry) ? [name] : []),
    ...apps
      .filter((app) => allowed.includes(app.entry))
      .map((app) => t('form.appOf', { app: app.name, agent: name })),
  ])
  return names.join(', ')
}

/** Users see no name but their own; administrators are led to the user. */
function useUserName(): (id: string, username: string | undefined) => ReactNode {
  const t = useTranslations('keys.key')
  const { userId, role } = useSession()
  return (id, username) => {
    const name = id === userId ? t('you') : (username ?? t('anotherUser'))
    if (role !== 'admin') return name
    return <RecordLink key={id} kind="user" id={id} name={name} />
  }
}

/** What was last done to a key, as the audit log has it, with the way to all of it. Only administrators may read that. */
function LastChange({ id }: { readonly id: string }) {
  const t = useTranslations('keys.key')
  const words = useWords()
  const { moment } = useFormats()
  const target = { target: 'api_key', targetId: id } as const
  const { data } = useQuery(
    graphqlQuery(AuditEventsDocument, { filter: { ...target, result: 'DONE' }, first: 1 }),
  )
  const [event] = data?.auditEvents?.nodes ?? []
  return (
    <>
      {event !== undefined && (
        <>
          <Link to="/audit/$n" params={{ n: String(event.n) }}>
            {words.operation(event.operation)}
          </Link>
          {`, ${moment(event.at)} · `}
        </>
      )}
      <Link to="/audit" search={target}>
        {t('events')}
      </Link>
    </>
  )
}
