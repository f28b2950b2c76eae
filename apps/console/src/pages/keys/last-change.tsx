import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { AuditEventsDocument } from '../../generated/graphql.ts'
import { graphqlQuery } from '../../session/queries.ts'
import { useWords } from '../audit/words.ts'

/** What was last done to a key, as the audit log has it, with the way to all of it. Only administrators may read that. */
export function LastChange({ id }: { readonly id: string }) {
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
