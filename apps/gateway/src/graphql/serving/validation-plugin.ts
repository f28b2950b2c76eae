import type { Plugin } from 'graphql-yoga'
import { createValidation } from '../mistakes/validate-document.ts'

/** Validates documents by rules whose errors repeat nothing that the caller sent; refuses those for the schema unless it is shown. */
export function useValidation(showsSchema: boolean): Plugin {
  const validate = createValidation(showsSchema)
  return {
    onValidate({ setValidationFn }) {
      setValidationFn(validate)
    },
  }
}
