import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import type { RefusalFieldsFragment } from '../../generated/graphql.ts'
import { useSession } from '../../session/use-session.ts'
import { Card } from '../../ui/card.tsx'
import { Facts } from '../../ui/facts.tsx'
import { useAgentName } from './group-names.ts'

/** Which request was refused, and whose it was. */
export function RefusalAbout({ refusal }: { readonly refusal: RefusalFieldsFragment }) {
  const t = useTranslations('refusals')
  const faces = useTranslations('calls.call.faces')
  const { role } = useSession()
  const { moment } = useFormats()
  const agentName = useAgentName()
  const { at, face, route, agent, agentId, key, keyId, owner, ownerId } = refusal
  return (
    <Card
      title={t('refusal.about')}
      aside={
        keyId !== null && (
          <Link to="/refusals" search={{ key: keyId }}>
            {t('refusal.ofKey')}
          </Link>
        )
      }
    >
      <Facts
        facts={[
          [t('time'), moment(at)],
          [t('refusal.face'), faces(face)],
          [t('refusal.route'), <code key="route">{route}</code>],
          [t('agent'), agentId === '' ? null : agentName(agentId, agent?.name)],
          [
            t('key'),
            keyId === null ? (
              t('token')
            ) : (
              <Link key="key" to="/keys/$id" params={{ id: keyId }}>
                {key?.name ?? keyId}
              </Link>
            ),
          ],
          [
            t('refusal.owner'),
            role === 'admin' ? (
              <Link key="owner" to="/users/$id" params={{ id: ownerId }}>
                {owner?.username ?? ownerId}
              </Link>
            ) : null,
          ],
        ]}
      />
    </Card>
  )
}
