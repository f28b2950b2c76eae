import { useQuery } from '@tanstack/react-query'
import { useTranslations } from 'use-intl'
import { CallsChart } from '../../charts/calls-chart.tsx'
import { UsageReportDocument } from '../../generated/graphql.ts'
import { graphqlQuery } from '../../session/queries.ts'
import { ErrorNotice, Loading } from '../../ui/notice.tsx'
import { usageSearch } from '../usage/usage-search.ts'
import { usageVariables } from '../usage/usage-variables.ts'

/** The calls of a key in the last 30 days, day by day: what the page of the usage first shows of it. */
export function KeyChart({ id }: { readonly id: string }) {
  const t = useTranslations('keys.key')
  const variables = usageVariables(usageSearch({ key: id, range: '30d' }), new Date())
  const { data, error, refetch } = useQuery(graphqlQuery(UsageReportDocument, variables))
  if (error !== null) return <ErrorNotice error={error} retry={refetch} />
  const report = data?.usage ?? undefined
  if (report === undefined) return <Loading lines={8} />
  return <CallsChart label={t('over')} report={report} keyId={id} />
}
