import type { FieldErrors, FieldValues, Resolver } from 'react-hook-form'
import { useTranslations } from 'use-intl'

/** One violation of a schema, as Ajv reports it. */
interface Violation {
  readonly instancePath: string
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
}

/** A schema of the contract, compiled to a function by `scripts/write-validators.ts`. */
export interface ContractCheck<Body> {
  (body: unknown): body is Body
  errors?: readonly Violation[] | null
}

/**
 * Checks a form by the schema of the request that it will send, so that the page and the gateway agree on what is valid.
 * `toBody` makes the request out of the values; a violation is shown at the field with the name of the property.
 *
 * @example
 * ```ts
 * const resolver = useContractResolver(CreateUser, (values: Values): unknown => ({ ...values }))
 * const { register, formState } = useForm({ defaultValues, resolver })
 * ```
 */
export function useContractResolver<Values extends FieldValues>(
  check: ContractCheck<unknown>,
  toBody: (values: Values) => unknown,
): Resolver<Values> {
  const t = useTranslations('form')

  function explain({ keyword, params }: Violation): string {
    const limit = Number(params.limit ?? 0)
    switch (keyword) {
      case 'required':
        return t('required')
      case 'minLength':
        return limit === 1 ? t('required') : t('minLength', { limit })
      case 'maxLength':
        return t('maxLength', { limit })
      case 'minItems':
        return t('minItems', { limit })
      case 'maxItems':
        return t('maxItems', { limit })
      case 'minimum':
        return t('minimum', { limit })
      case 'maximum':
        return t('maximum', { limit })
      default:
        return t('invalid')
    }
  }

  return (values) => {
    if (check(toBody(values))) return { values, errors: {} }
    const errors: Record<string, { type: string; message: string }> = {}
    for (const violation of check.errors ?? []) {
      const field = String(violation.params.missingProperty ?? violation.instancePath.split('/')[1] ?? 'root')
      errors[field] ??= { type: violation.keyword, message: explain(violation) }
    }
    return { values: {}, errors: errors as FieldErrors<Values> }
  }
}
