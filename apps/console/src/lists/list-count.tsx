import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { GraphqlDocument } from '@trunkline/sdk/graphql'
import { useTranslations } from 'use-intl'
import { graphqlQuery } from '../session/queries.ts'

/** The gateway counts up to this. */
const COUNT_MAX = 10_000

interface ListCountProps<Data, Variables> {
  /** Whose words there are for a count. */
  readonly of: 'calls' | 'conversations' | 'refusals' | 'audit' | 'users'
  readonly document: GraphqlDocument<Data, Variables>
  readonly variables: Variables
  countOf(data: Data): number | null | undefined
}

/** How many rows match. */
export function ListCount<Data, Variables extends object>(props: ListCountProps<Data, Variables>) {
  const { of, document, variables, countOf } = props
  const t = useTranslations(of)
  // Only lists of which the gateway may not count all have a text for it.
  const many = useTranslations(of as 'calls')
  const common = useTranslations('common')
  const { data } = useQuery({ ...graphqlQuery(document, variables), placeholderData: keepPreviousData })
  const count = data === undefined ? undefined : countOf(data)
  if (count === undefined) return common('loading')
  return count === null ? many('countMany', { max: COUNT_MAX }) : t('count', { count })
}
