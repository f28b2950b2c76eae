import type { Resolver } from 'react-hook-form'
import { useTranslations } from 'use-intl'
import { type ContractCheck, useContractResolver } from '../../form/contract-resolver.ts'
import type { KeyValues } from './key-values.ts'

/** The contract's check, and that a restriction to some agents names one: an empty list would not be what was meant. */
export function useKeyResolver<Values extends KeyValues>(
  check: ContractCheck<unknown>,
  toBody: (values: Values) => unknown,
): Resolver<Values> {
  const t = useTranslations('keys.form')
  const contract = useContractResolver<Values>(check, toBody)
  return async (values, context, options) => {
    const result = await contract(values, context, options)
    if (values.agents === 'all' || values.allowed_agents.length > 0) return result
    const allowed_agents = { type: 'minItems', message: t('chooseAgent') }
    return { values: {}, errors: { ...result.errors, allowed_agents } as never }
  }
}
