import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { REFUSALS_FIELDS } from '../../generated/fields.ts'
import type { RefusalFieldsFragment } from '../../generated/graphql.ts'
import { RowFacts } from '../../lists/row-facts.tsx'
import { useSession } from '../../session/use-session.ts'
import { Card } from '../../ui/card.tsx'
import { useAgentName } from './group-names.ts'

/** Which request was refused, and whose it was. */
export function RefusalAbout({ refusal }: { readonly refusal: RefusalFieldsFragment }) {
  const t = useTranslations('refusals')
  const isAdmin = useSession().role === 'admin'
  const { moment } = useFormats()
  const agentName = useAgentName()
  const { at, route, agent, agentId, keyId } = refusal
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
      <RowFacts
        of="refusals"
        fields={REFUSALS_FIELDS}
        row={refusal}
        facts={[
          [t('time'), moment(at)],
          'face',
          [t('refusal.route'), <code key="route">{route}</code>],
          [t('agent'), agentId && agentName(agentId, agent?.name)],
          keyId === null ? [t('key'), t('token')] : 'key',
          ...(isAdmin ? (['owner'] as const) : []),
        ]}
      />
    </Card>
  )
}
