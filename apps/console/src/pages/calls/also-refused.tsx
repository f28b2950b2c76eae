import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { RefusalsDocument } from '../../generated/graphql.ts'
import { graphqlQuery } from '../../session/queries.ts'
import { Notice } from '../../ui/notice.tsx'

/** Whether a refusal of this request is kept; undefined until that is known. */
export function useIsRefused(requestId: string): boolean | undefined {
  const { data } = useQuery(graphqlQuery(RefusalsDocument, { filter: { requestId } }))
  return data && (data.refusals?.nodes.length ?? 0) > 0
}

/** Leads to the refusal of a request that is looked for among the calls. Nothing where there is none. */
export function AlsoRefused({ requestId }: { readonly requestId: string }) {
  const t = useTranslations('calls')
  if (useIsRefused(requestId) !== true) return null
  return (
    <Notice tone="warn">
      <Link to="/refusals/$requestId" params={{ requestId }}>
        {t('alsoRefused')}
      </Link>
    </Notice>
  )
}
